/** The stack of the scenario, its accounts, and the requests that its tests share. */
import { afterAll, beforeAll } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

export let stack: LeasedStack;
export let ada: Account;
export let bob: Account;
export let admin: Account;

/** Starts and stops the stack of a test file. */
export function useRoutes(): void {
  beforeAll(async () => {
    stack = await leaseStack();
    [ada, bob, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Bob'), await stack.createAccount('Root', 'ADMIN')];
  });
  afterAll(() => stack.stop());
}

export type Body = Record<string, unknown> & { id: string };

export async function call(method: string, path: string, { token, body }: { token?: string | undefined; body?: unknown } = {}) {
  const reply = await stack.call(method, path, { token, body });
  return { status: reply.status, headers: reply.headers, body: reply.body as Body };
}

/** Publishes a post of Ada. */
export const write = (title: string, more: object = {}, token = ada.token) =>
  call('POST', `/v1/users/${ada.id}/posts`, { token, body: { title, status: 'published', ...more } });

/** Returns the ids of a list. */
export const ids = (body: unknown) => (body as { data: { id: string }[] }).data.map(({ id }) => id);
