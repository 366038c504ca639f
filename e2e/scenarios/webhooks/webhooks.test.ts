/** Webhooks by REST and GraphQL, and their deliveries to receivers that behave well and badly (contract §4, Standard Webhooks). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Reply, until } from '../../stack/client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type Receiver, answer, startReceiver, verifies } from './receiver.ts';

let stack: Stack;
let ada: Account;
let bob: Account;
let admin: Account;
const receivers: Receiver[] = [];
const open = async () => {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
};

beforeAll(async () => {
  stack = await startStack({ env: { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_SECONDS: '1,1,1' } });
  [ada, bob, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Bob'), await stack.createAccount('Root', 'ADMIN')];
});
afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));
afterAll(() => stack.stop());

interface Webhook {
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

/* eslint-disable size/max-params -- It reads as a request line. */
const call = (
  method: string,
  path: string,
  account: Account | undefined,
  options: { body?: unknown; headers?: Record<string, string> } = {},
) => stack.call(method, path, { token: account?.token, ...options });
/* eslint-enable size/max-params */
const codeOf = ({ body }: Reply) => (body as { error?: { code: string } }).error?.code;

/** Of all types except those of accounts, whose events may arrive while a test creates them. */
const MOST_TYPES = ['post.*', 'comment.*', 'order.*', 'payment.*', 'video.*', 'message.*'];

async function create(account: Account, url: string, types: readonly string[] = MOST_TYPES) {
  const reply = await call('POST', '/v1/webhooks', account, { body: { name: 'Test', url, types } });
  expect([reply.status, reply.text]).toEqual([201, expect.anything()]);
  const { secret, webhook } = reply.body as { secret: string; webhook: Webhook };
  return { secret, webhook, reply, path: `/v1/webhooks/${webhook.id}` };
}
const get = async (path: string, account: Account) => (await call('GET', path, account)).body as Webhook;
const deliveriesOf = async (path: string, account: Account, query = '') =>
  ((await call('GET', `${path}/deliveries?limit=100${query}`, account)).body as { data: Delivery[] }).data;
const isDone = async (path: string, account: Account, count: number) =>
  (await deliveriesOf(path, account)).filter(({ status }) => status !== 'waiting').length === count;

let events = 0;
interface EventOptions {
  readonly type?: string;
  readonly ownerId?: string | null;
  readonly audience?: 'PUBLIC' | 'OWNER' | 'ADMIN';
}
/** Appends an event as the feeds of the subgraphs do. */
async function happen({ type = 'post.created', ownerId = null, audience = 'PUBLIC' }: EventOptions = {}): Promise<string> {
  const id = `evt_${String(events++).padStart(26, '0')}`;
  const event = { id, type, source: 'content', subject: 'pst_1', ownerId, audience, data: { version: 1 }, time: new Date() };
  await stack.sql('users', 'SELECT journal_append($1::jsonb)', [JSON.stringify([event])]);
  return id;
}

describe('POST /v1/webhooks', () => {
  it('shows the secret once, and stores it encrypted', async () => {
    const { secret, webhook, reply, path } = await create(ada, 'http://127.0.0.1:9/a', ['post.*', 'order.paid']);
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect([reply.headers.get('location'), reply.headers.get('cache-control')]).toEqual([path, 'no-store']);
    expect(webhook).toMatchObject({ types: ['post.*', 'order.paid'], isEnabled: true, disabledReason: null });
    const shown = await call('GET', path, ada);
    expect([shown.status, shown.text.includes(secret.slice(6, 20))]).toEqual([200, false]);
    const [row] = await stack.sql<{ secret: Buffer }>('users', 'SELECT secret FROM webhooks WHERE id = $1', [webhook.id]);
    expect(row?.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    expect((await call('DELETE', path, ada)).status).toBe(204);
  });

  it.each([
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'https://user:word@example.com/' }, 'url'],
    [{ url: 'nothing' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2000)}` }, 'url'],
    [{ name: '' }, 'name'],
    [{ types: [] }, 'types'],
    [{ types: ['post.eaten'] }, 'types'],
    [{ secret: 'whsec_x' }, 'secret'],
  ])('refuses %j', async (body, field) => {
    const reply = await call('POST', '/v1/webhooks', ada, { body: { name: 'x', url: 'https://example.com/', ...body } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'VALIDATION_ERROR']);
    expect(reply.text).toContain(`"field":"${field}"`);
  });

  it('allows 20 webhooks for an account, also when they are created at once', async () => {
    const crowd = await stack.createAccount('Crowd');
    const replies = await Promise.all(
      Array.from({ length: 25 }, () => call('POST', '/v1/webhooks', crowd, { body: { name: 'x', url: 'https://example.com/' } })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(5);
    expect((await call('DELETE', `/v1/users/${crowd.id}`, crowd)).status).toBe(204);
  });
});

describe('a webhook', () => {
  it('is hidden from other accounts, and administrators manage it', async () => {
    const { path, webhook } = await create(ada, 'http://127.0.0.1:9/b');
    expect([(await call('GET', path, bob)).status, (await call('GET', path, undefined)).status]).toEqual([404, 401]);
    for (const [method, suffix] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotations'],
      ['POST', '/pings'],
    ] as const) {
      const body = method === 'DELETE' || suffix === '/pings' ? undefined : {};
      expect([(await call(method, `${path}${suffix}`, bob, { body })).status, method, suffix]).toEqual([404, method, suffix]);
    }
    expect((await call('GET', `${path}/deliveries`, bob)).status).toBe(404);
    expect((await call('GET', `/v1/webhooks?userId=${ada.id}`, bob)).status).toBe(403);
    const listed = (await call('GET', `/v1/webhooks?userId=${ada.id}`, admin)).body as { data: Webhook[] };
    expect(listed.data.map(({ id }) => id)).toContain(webhook.id);
    expect((await call('PATCH', path, admin, { body: { isEnabled: false } })).body).toMatchObject({
      isEnabled: false,
      disabledReason: 'owner',
    });
    expect((await call('DELETE', path, ada)).status).toBe(204);
  });

  it('is changed under its version, and leaves a tombstone', async () => {
    const { path, reply } = await create(ada, 'http://127.0.0.1:9/c');
    const etag = reply.headers.get('etag') ?? '';
    expect((await call('PATCH', path, ada, { body: { name: 'New' }, headers: { 'if-match': etag } })).status).toBe(200);
    expect((await call('PATCH', path, ada, { body: { name: 'Newer' }, headers: { 'if-match': etag } })).status).toBe(412);
    expect([(await call('DELETE', path, ada)).status, (await call('GET', path, ada)).status]).toEqual([204, 410]);
    expect((await call('DELETE', path, ada)).status).toBe(404);
  });

  it('is found by its id with `node`', async () => {
    const { webhook, path } = await create(ada, 'http://127.0.0.1:9/d');
    const query = 'query ($id: ID!) { node(id: $id) { id ... on Webhook { url user { id } } } }';
    const found = await stack.graphql<{ node: object | null }>(query, { variables: { id: webhook.id }, token: ada.token });
    expect(found.data?.node).toEqual({ id: webhook.id, url: webhook.url, user: { id: ada.id } });
    expect((await stack.graphql<{ node: null }>(query, { variables: { id: webhook.id }, token: bob.token })).data?.node).toBeNull();
    await call('DELETE', path, ada);
  });
});

describe('a delivery', () => {
  it('is a CloudEvent with a signature that the official library verifies', async () => {
    const receiver = await open();
    const { secret, path } = await create(ada, receiver.url, ['post.*']);
    const id = await happen();
    await happen({ type: 'comment.created' });
    await until(() => isDone(path, ada, 1));
    const [arrival] = receiver.arrivals;
    expect(receiver.arrivals).toHaveLength(1);
    expect(arrival).toMatchObject({ id, contentType: 'application/cloudevents+json; charset=utf-8' });
    expect(arrival?.event).toMatchObject({
      specversion: '1.0',
      id,
      type: 'post.created',
      source: '/content',
      subject: 'pst_1',
      data: { version: 1 },
    });
    expect(arrival && verifies(secret, arrival)).toBe(true);
    expect(arrival && verifies(`whsec_${Buffer.alloc(32).toString('base64')}`, arrival)).toBe(false);
    const [delivery] = await deliveriesOf(path, ada);
    expect(delivery).toMatchObject({ status: 'succeeded', kind: 'event', eventId: id, attemptCount: 1 });
    expect(JSON.stringify(delivery)).not.toContain('v1,');
    await call('DELETE', path, ada);
  });

  it('goes to those who may learn of the event only', async () => {
    const receiver = await open();
    const hooks = [
      await create(ada, `${receiver.url}?ada`),
      await create(bob, `${receiver.url}?bob`),
      await create(admin, `${receiver.url}?admin`),
    ];
    const [own, secret] = [
      await happen({ type: 'order.paid', audience: 'OWNER', ownerId: ada.id }),
      await happen({ type: 'post.updated', audience: 'ADMIN' }),
    ];
    await happen();
    await until(async () =>
      (await Promise.all(hooks.map(({ path }, i) => isDone(path, [ada, bob, admin][i] as Account, [2, 1, 3][i] ?? 0)))).every(Boolean),
    );
    expect(receiver.arrivals.filter(({ id }) => id === own)).toHaveLength(2);
    expect(receiver.arrivals.filter(({ id }) => id === secret)).toHaveLength(1);
    for (const { path } of hooks) await call('DELETE', path, admin);
  });

  it('is signed with both secrets while they overlap, and then with the new one', async () => {
    const receiver = await open();
    const { secret, path } = await create(ada, receiver.url);
    const rotated = (await call('POST', `${path}/rotations`, ada, { body: { overlapHours: 1 } })).body as { secret: string };
    await call('POST', `${path}/pings`, ada);
    await until(() => isDone(path, ada, 1));
    const again = (await call('POST', `${path}/rotations`, ada, { body: { overlapHours: 0 } })).body as { secret: string };
    await call('POST', `${path}/pings`, ada);
    await until(() => isDone(path, ada, 2));
    const [both, single] = receiver.arrivals;
    expect(both && [secret, rotated.secret].map((each) => verifies(each, both))).toEqual([true, true]);
    expect(single && [rotated.secret, again.secret].map((each) => verifies(each, single))).toEqual([false, true]);
    expect(both?.event.type).toBe('webhook.ping');
    await call('DELETE', path, ada);
  });

  it('is tried again with the same id until it succeeds, and the log shows each attempt', async () => {
    const receiver = await open();
    receiver.behave = (response) => {
      const step = receiver.arrivals.length;
      if (step === 1) response.writeHead(500, { 'set-cookie': 'a=secret', 'x-reason': 'busy' }).end();
      else if (step === 2) response.destroy();
      else response.writeHead(204).end();
    };
    const { path } = await create(ada, receiver.url);
    const id = await happen();
    await until(() => isDone(path, ada, 1));
    expect(receiver.arrivals.map((arrival) => arrival.id)).toEqual([id, id, id]);
    const [delivery] = await deliveriesOf(path, ada);
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, null, 204]);
    expect(delivery?.attempts[0]?.responseHeaders).toMatchObject({ 'x-reason': 'busy' });
    expect(JSON.stringify(delivery)).not.toContain('secret');
    expect(await get(path, ada)).toMatchObject({ failingSince: null, isEnabled: true });
    await call('DELETE', path, ada);
  });

  it('fails after the last attempt; a redirect is not followed', async () => {
    const [receiver, target] = [await open(), await open()];
    receiver.behave = answer(307, { location: target.url });
    const { path } = await create(ada, receiver.url);
    await happen();
    await until(() => isDone(path, ada, 1));
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'failed', attemptCount: 4 });
    expect([receiver.arrivals.length, target.arrivals.length]).toEqual([4, 0]);
    expect((await get(path, ada)).failingSince).not.toBeNull();
    await call('DELETE', path, ada);
  });

  it('succeeds by its status when the response has 10 MB, of which 64 KiB are read', async () => {
    const receiver = await open();
    const sent = { bytes: 0 };
    receiver.behave = (response) => {
      response.writeHead(200);
      const write = () => {
        while (sent.bytes < 10_000_000 && !response.destroyed) {
          sent.bytes += 65_536;
          if (!response.write(Buffer.alloc(65_536))) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    };
    const { path } = await create(ada, receiver.url);
    await happen();
    await until(() => isDone(path, ada, 1));
    await until(() => Promise.resolve(receiver.load.open === 0));
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'succeeded', attemptCount: 1 });
    expect(sent.bytes).toBeLessThan(10_000_000);
    await call('DELETE', path, ada);
  });

  it('that is answered 410 disables its webhook and cancels the others', async () => {
    const receiver = await open();
    receiver.behave = answer(410);
    const { path } = await create(ada, receiver.url);
    for (let i = 0; i < 3; i++) await happen();
    await until(() => isDone(path, ada, 3));
    expect(await get(path, ada)).toMatchObject({ isEnabled: false, disabledReason: 'gone' });
    expect((await call('POST', `${path}/pings`, ada)).status).toBe(422);
    receiver.behave = answer(204);
    expect((await call('PATCH', path, ada, { body: { isEnabled: true } })).body).toMatchObject({ isEnabled: true, disabledReason: null });
    await call('DELETE', path, ada);
  });

  it('that fails after days of failures disables its webhook', async () => {
    const receiver = await open();
    receiver.behave = answer(503);
    const { path, webhook } = await create(ada, receiver.url);
    await stack.sql('users', `UPDATE webhooks SET "failingSince" = now() - interval '121 hours' WHERE id = $1`, [webhook.id]);
    await happen();
    await until(() => isDone(path, ada, 1));
    expect(await get(path, ada)).toMatchObject({ isEnabled: false, disabledReason: 'failures' });
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'cancelled' });
    await call('DELETE', path, ada);
  });

  it('waits for no slow endpoint, which never has more than eight requests of a machine at once', async () => {
    const [slow, fast] = [await open(), await open()];
    const held: (() => void)[] = [];
    slow.behave = (response) => held.push(() => response.writeHead(204).end());
    const [slowHook, fastHook] = [await create(ada, slow.url, ['post.*']), await create(bob, fast.url, ['comment.*'])];
    for (let i = 0; i < 30; i++) await happen();
    await until(() => Promise.resolve(held.length >= 5));
    for (let i = 0; i < 10; i++) await happen({ type: 'comment.created' });
    await until(() => isDone(fastHook.path, bob, 10));
    // Each process has its own eight.
    expect(held.length).toBeLessThanOrEqual(8 * stack.nodes.length);
    slow.behave = answer(204);
    for (const release of held) release();
    await until(() => isDone(slowHook.path, ada, 30));
    expect(slow.load.most).toBeLessThanOrEqual(8 * stack.nodes.length);
    for (const { path } of [slowHook, fastHook]) await call('DELETE', path, admin);
  });

  it('is cancelled when its account may not learn of the event any more', async () => {
    const receiver = await open();
    receiver.behave = answer(500, { 'retry-after': '3600' });
    const moderator = await stack.createAccount('Mod', 'MODERATOR');
    const { path } = await create(moderator, receiver.url);
    await happen({ audience: 'OWNER', ownerId: bob.id });
    await until(async () => (await deliveriesOf(path, admin))[0]?.attempts.length === 1);
    await stack.sql('users', `UPDATE users SET role = 'USER' WHERE id = $1`, [moderator.id]);
    expect((await deliveriesOf(path, admin))[0]).toMatchObject({ status: 'cancelled' });
    await call('DELETE', path, admin);
  });
});

describe('a users process that is killed amid deliveries', () => {
  it('has lost nothing when it is back, and what arrives twice has the same id', async () => {
    const receiver = await open();
    const { path } = await create(ada, receiver.url, ['comment.*']);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await happen({ type: 'comment.updated' }));
    receiver.behave = (response, arrival) => {
      // Held: the kill comes before the response.
      if (ids.indexOf(arrival.id) < 10) response.writeHead(204).end();
    };
    await until(() => Promise.resolve(receiver.arrivals.length >= 12));
    await stack.kill('users');
    receiver.behave = answer(204);
    // The leases of the killed process end now rather than in 40 s.
    await stack.sql('users', `UPDATE webhook_deliveries SET "nextAttemptAt" = now() WHERE status = 'WAITING'`);
    await stack.revive('users');
    await until(() => isDone(path, ada, 20));
    expect(new Set(receiver.arrivals.map(({ id }) => id))).toEqual(new Set(ids));
    expect((await deliveriesOf(path, ada)).every(({ status }) => status === 'succeeded')).toBe(true);
    expect(receiver.arrivals.length).toBeGreaterThan(20);
    await call('DELETE', path, ada);
  });
});

describe('many endpoints that do not answer', () => {
  it('delay no delivery to one that does', async () => {
    const dead = await Promise.all(
      Array.from({ length: 19 }, (_, i) => create(bob, `https://host-${String(i % 2)}.invalid/`, ['payment.*'])),
    );
    for (let i = 0; i < 20; i++) await happen({ type: 'payment.succeeded' });
    const receiver = await open();
    const { path } = await create(ada, receiver.url, ['comment.*']);
    const startedAt = Date.now();
    await happen({ type: 'comment.created' });
    await until(() => isDone(path, ada, 1));
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    for (const hook of [...dead, { path }]) await call('DELETE', hook.path, admin);
  });
});

describe('a replay', () => {
  it('sends the event of a delivery again, with the same id', async () => {
    const receiver = await open();
    const { path } = await create(ada, receiver.url);
    const id = await happen();
    await until(() => isDone(path, ada, 1));
    const [first] = await deliveriesOf(path, ada);
    const reply = await call('POST', `${path}/deliveries/${first?.id ?? ''}/replays`, ada);
    expect(reply.status).toBe(201);
    await until(() => isDone(path, ada, 2));
    expect(receiver.arrivals.map((arrival) => arrival.id)).toEqual([id, id]);
    expect((await call('GET', reply.headers.get('location') ?? '', ada)).body).toMatchObject({
      kind: 'replay',
      status: 'succeeded',
      eventId: id,
    });
    expect((await call('POST', `${path}/deliveries/dlv_0/replays`, ada)).status).toBe(404);
    await call('DELETE', path, ada);
  });

  it('sends all events since a time again that the webhook selects', async () => {
    const receiver = await open();
    const since = new Date().toISOString();
    const ids = [await happen({ type: 'video.published' }), await happen({ type: 'video.deleted' })];
    await happen({ type: 'video.published', audience: 'OWNER', ownerId: bob.id });
    const { path } = await create(ada, receiver.url, ['video.*']);
    const reply = await call('POST', `${path}/replays`, ada, { body: { since } });
    expect([reply.status, reply.body]).toEqual([200, { count: 2, until: expect.any(String), isComplete: true }]);
    await until(() => isDone(path, ada, 2));
    expect(receiver.arrivals.map((arrival) => arrival.id).sort()).toEqual(ids);
    await call('DELETE', path, ada);
  });
});
