/** What readers of events get in hard cases: several processes, disabled webhooks, and events that are no longer kept (ADR 24, ADR 25). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until, untilLogged } from '../../stack/clients/client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type Receiver, answer, startReceiver } from '../webhooks/receiver.ts';
import { type EventsClient, readEvents } from './events-client.ts';

let stack: Stack;
let ada: Account;
let receiver: Receiver;
const clients: EventsClient[] = [];

beforeAll(async () => {
  stack = await startStack({ env: { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_SECONDS: '1,1' } });
  ada = await stack.createAccount('Ada');
  receiver = await startReceiver();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  receiver.behave = answer(204);
  receiver.arrivals.length = 0;
});
afterAll(async () => {
  await receiver.close();
  await stack.stop();
});

const connect = async (query: string, { account = ada } = {}) => {
  const client = readEvents({ url: `${stack.rest}/v1/events?${query}`, token: account.token });
  clients.push(client);
  await client.opened;
  return client;
};
const createWebhook = async (types: readonly string[]) => {
  const { body } = await stack.call('POST', '/v1/webhooks', { token: ada.token, body: { name: 'Test', url: receiver.url, types } });
  return (body as { webhook: { id: string } }).webhook.id;
};
const deleteWebhook = (id: string) => stack.call('DELETE', `/v1/webhooks/${id}`, { token: ada.token });
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${String(i)}`);

describe('the event webhook.disabled', () => {
  it('reaches the owner of the webhook, with the reason, and nobody else', async () => {
    const bob = await stack.createAccount('Bob');
    const [own, foreign] = [await connect('type=webhook.*'), await connect('type=webhook.*,user.*', { account: bob })];
    receiver.behave = answer(410);
    const [gone, byOwner] = [await createWebhook(['user.*']), await createWebhook(['order.*'])];
    await stack.call('PATCH', `/v1/webhooks/${byOwner}`, { token: ada.token, body: { isEnabled: false } });
    const { id } = await stack.createAccount('Carol');
    await until(() => Promise.resolve(own.events.length >= 2));
    expect(own.events.map(({ type, subject, data }) => ({ type, subject, data }))).toEqual([
      { type: 'webhook.disabled', subject: byOwner, data: { reason: 'OWNER' } },
      { type: 'webhook.disabled', subject: gone, data: { reason: 'GONE' } },
    ]);
    const dan = await stack.createAccount('Dan');
    await until(() => Promise.resolve(foreign.events.some(({ subject }) => subject === dan.id)));
    expect(foreign.events.map(({ subject }) => subject)).toEqual([id, dan.id]);
    for (const webhook of [gone, byOwner]) await deleteWebhook(webhook);
  });
});

describe('two users processes', () => {
  it('make one entry of each event, and one delivery', async () => {
    const second = await stack.startSubgraph('users');
    const webhook = await createWebhook(['message.*']);
    const stream = await connect('type=message.*');
    await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_two', 'two')`);
    const ids = named('msg_two', 200);
    for (let i = 0; i < ids.length; i += 20)
      await stack.sql(
        'content',
        `INSERT INTO messages (id, "channelId", "authorId", body) SELECT id, 'chn_two', $2, 'B' FROM unnest($1::text[]) id`,
        [ids.slice(i, i + 20), ada.id],
      );
    const isDelivered = `SELECT FROM webhook_deliveries WHERE "webhookId" = $1 AND status = 'SUCCEEDED'`;
    await until(async () => (await stack.sql('users', isDelivered, [webhook])).length === ids.length);
    await until(() => Promise.resolve(stream.events.length >= ids.length));
    expect(stream.events.map(({ subject }) => subject)).toEqual(ids);
    expect(receiver.arrivals.map(({ event }) => event.subject).sort()).toEqual([...ids].sort());
    const query = '{ events(types: ["message.added"], first: 1) { edges { node { type audience } } } }';
    const listed = await stack.graphql<object>(query, { token: ada.token });
    expect(listed.data).toEqual({ events: { edges: [{ node: { type: 'message.added', audience: 'USER' } }] } });
    await second.end('SIGTERM');
    await deleteWebhook(webhook);
  });
});

describe('a reader whose position was dropped with its day', () => {
  const cursorOf = (position: number) => Buffer.from(JSON.stringify(['users', String(position)])).toString('base64url');
  const statusOf = async (headers: Record<string, string>, query = '') =>
    (await stack.call('GET', `/v1/events?limit=1${query}`, { token: ada.token, headers })).status;

  it('gets 410 from the list and from the stream, and goes on without a position', async () => {
    await stack.sql('users', `SELECT journal_partition('2020-01-01')::text`);
    await stack.sql('users', `UPDATE journal SET "recordedAt" = '2020-01-01T12:00:00Z' WHERE position <= 3`);
    const stream = { accept: 'text/event-stream' };
    expect(await statusOf({}, `&after=${cursorOf(1)}`)).toBe(200);
    await stack.sql('users', 'SELECT journal_sweep(72)');
    expect([await statusOf({}, `&after=${cursorOf(2)}`), await statusOf({ ...stream, 'last-event-id': cursorOf(2) })]).toEqual([410, 410]);
    // Nothing behind the last dropped event is missing.
    expect([await statusOf({}, `&after=${cursorOf(3)}`), await statusOf({})]).toEqual([200, 200]);
  });

  it('begins with the oldest event when it is a subgraph, and records no event twice', async () => {
    const create = (ids: readonly string[]) =>
      stack.sql('content', `INSERT INTO posts (id, "authorId", title) SELECT id, $2, 'T' FROM unnest($1::text[]) id`, [ids, ada.id]);
    const subjects = async () =>
      (await stack.sql<{ subject: string }>('users', `SELECT subject FROM journal WHERE subject LIKE 'pst_gap%' ORDER BY position`)).map(
        ({ subject }) => subject,
      );
    await create(['pst_gap1']);
    await until(async () => (await subjects()).length === 1);
    await stack.kill('users');
    await create(['pst_gap2']);
    await stack.sql('content', `UPDATE outbox SET "createdAt" = '2020-01-01T12:00:00Z'`);
    await stack.sql('content', `SELECT maintain_outbox('1 day')::text`);
    await create(['pst_gap3', 'pst_gap4']);
    await stack.revive('users');
    await until(async () => (await subjects()).length === 3);
    expect(await subjects()).toEqual(['pst_gap1', 'pst_gap3', 'pst_gap4']);
    await untilLogged(stack.subgraphs.users, 'has missed events of content');
  });
});
