/** The system of the tests of webhooks: it delivers to receivers on this machine, and tries again every second. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Reply } from '../../stack/clients/client.ts';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly isEnabled: boolean;
  readonly disabledReason: string | null;
  readonly failingSince: string | null;
}

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly kind: string;
  readonly eventId: string;
  readonly attemptCount: number;
  readonly attempts: readonly { status: number | null; error: string | null; responseHeaders: Record<string, string> | null }[];
}

interface EventOptions {
  readonly type?: string;
  readonly ownerId?: string | null;
  readonly audience?: 'PUBLIC' | 'OWNER' | 'ADMIN';
}

/** Of all types except those of accounts, whose events may arrive while a test creates them. */
const MOST_TYPES = ['post.*', 'comment.*', 'order.*', 'payment.*', 'video.*', 'message.*'];

export let stack: LeasedStack;
export let ada: Account;
export let bob: Account;
export let admin: Account;

/** Leases the system for a file, and closes the receivers after each test. */
export function useWebhooks(): void {
  beforeAll(async () => {
    stack = await leaseStack({ env: SPECIAL_SETTINGS });
    [ada, bob, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Bob'), await stack.createAccount('Root', 'ADMIN')];
  });
  afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));
  afterAll(() => stack.stop());
}

const receivers: Receiver[] = [];
/** Starts a receiver for one test. */
export async function open(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

/* eslint-disable size/max-params -- It reads as a request line. */
/** Sends a request to the bridge, in the name of an account. */
export const call = (
  method: string,
  path: string,
  account: Account | undefined,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> => stack.call(method, path, { token: account?.token, ...options });
/* eslint-enable size/max-params */

/** Creates a webhook. */
export async function create(account: Account, url: string, types: readonly string[] = MOST_TYPES) {
  const reply = await call('POST', '/v1/webhooks', account, { body: { name: 'Test', url, types } });
  expect([reply.status, reply.text]).toEqual([201, expect.anything()]);
  const { secret, webhook } = reply.body as { secret: string; webhook: Webhook };
  return { secret, webhook, reply, path: `/v1/webhooks/${webhook.id}` };
}

/** Returns a webhook as its account sees it. */
export const get = async (path: string, account: Account): Promise<Webhook> => (await call('GET', path, account)).body as Webhook;

/** Returns the latest deliveries of a webhook. */
export const deliveriesOf = async (path: string, account: Account): Promise<readonly Delivery[]> =>
  ((await call('GET', `${path}/deliveries?limit=100`, account)).body as { data: Delivery[] }).data;

/** Returns whether so many deliveries have ended, and no more. */
export const isDone = async (path: string, account: Account, count: number): Promise<boolean> =>
  (await deliveriesOf(path, account)).filter(({ status }) => status !== 'waiting').length === count;

/** Appends an event as the feeds of the subgraphs do. Returns its id, which later events follow in order. */
export async function happen({ type = 'post.created', ownerId = null, audience = 'PUBLIC' }: EventOptions = {}): Promise<string> {
  // The journal goes on from file to file, and takes an id once.
  const id = `evt_${FILE}${String(events++).padStart(6, '0')}`;
  const event = { id, type, source: 'content', subject: 'pst_1', ownerId, audience, data: { version: 1 }, time: new Date() };
  await stack.sql('users', 'SELECT journal_append($1::jsonb)', [JSON.stringify([event])]);
  return id;
}
let events = 0;
const FILE = randomUUID().replaceAll('-', '').slice(0, 20);
