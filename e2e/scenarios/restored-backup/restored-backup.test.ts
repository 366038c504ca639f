/**
 * After the backup of one database was restored, positions are used a second time. Each reader of events notices that: it skips no new event, and
 * does not wait until there are as many events as before (spec §6, §8, ADR 24). On two machines (`npm run scenario:two-nodes`) events go
 * through NATS.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { followEvents } from '../../stack/clients/event-follower.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type Backup, takeBackup } from './backup.ts';

const START_MS = 120_000;
const TEST_MS = 180_000;
const CHANNEL = 'chn_00000000000000000000000001';
let stack: Stack;
let ada: Account;
let receiver: Receiver;
const backups: Backup[] = [];

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ env: { WEBHOOK_ALLOW_PRIVATE: 'on' } }), startReceiver()]);
  ada = await stack.createAccount('Ada');
  await stack.sql('content', 'INSERT INTO channels (id, name) VALUES ($1, $2)', [CHANNEL, 'talk']);
  const webhook = { name: 'All', url: receiver.url, types: ['post.created', 'user.created'] };
  expect((await stack.call('POST', '/v1/webhooks', { token: ada.token, body: webhook })).status).toBe(201);
  await until(async () => (await stack.sql('content', 'SELECT FROM "search_builds" WHERE "builtAt" IS NOT NULL')).length === 1);
}, START_MS);
afterAll(async () => {
  await stack.stop();
  await receiver.close();
  await Promise.all(backups.map((backup) => backup.drop()));
});

const back = async (subgraph: 'users' | 'content') => {
  const backup = await takeBackup(stack, subgraph);
  backups.push(backup);
  return backup;
};
/** Sends a request until the processes that were started again answer it. */
async function create(path: string, body: object): Promise<string> {
  let id = '';
  await until(async () => {
    const reply = await stack.call('POST', path, { token: ada.token, body });
    id = (reply.body as { id?: string }).id ?? '';
    return reply.status === 201;
  });
  return id;
}
async function inTurn(count: number, make: (at: number) => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at++) ids.push(await make(at));
  return ids;
}
const writePosts = (word: string, count: number) =>
  inTurn(count, (at) => create('/v1/posts', { title: `${word} ${String(at)}`, body: 'x', status: 'published' }));
const createUsers = (name: string, count: number) =>
  inTurn(count, (at) => create('/v1/users', { name, email: `${name}.${String(at)}@example.org`, password: 'New-passes-1' }));
const say = (body: string) => create(`/v1/channels/${CHANNEL}/messages`, { body });
const deliveriesOf = (id: string) => receiver.arrivals.filter(({ event }) => event.subject === id);
const untilDelivered = (ids: readonly string[]) => until(() => Promise.resolve(ids.every((id) => deliveriesOf(id).length > 0)));
/** Returns which of these the search index has. */
const indexed = async (ids: readonly string[]) =>
  (await stack.sql<{ id: string }>('content', 'SELECT "id" FROM "search_documents" WHERE "id" = ANY($1) ORDER BY "id"', [ids])).map(
    ({ id }) => id,
  );
const untilIndexed = (ids: readonly string[]) => until(async () => (await indexed(ids)).length === ids.length);
const subscribe = (after?: string) =>
  subscribeTo(stack.gateway, {
    query: `subscription { messageAdded(channelId: "${CHANNEL}") { body } }`,
    token: ada.token,
    resume: { ...(after !== undefined && { after }) },
  });

describe('when a backup of the database of content is restored', () => {
  let follower: Awaited<ReturnType<typeof followEvents>>;
  let lost: string[];
  let written: string[];
  let position: string | undefined;
  beforeAll(async () => {
    follower = await followEvents({ url: stack.rest, token: ada.token, type: 'post.created' });
    await untilDelivered(await writePosts('Kept', 3));
    const backup = await back('content');
    lost = await writePosts('Lost', 4);
    const subscriber = subscribe();
    await subscriber.wait(1);
    await say('lost');
    position = (await subscriber.wait(2))[1]?.extensions?.position;
    await subscriber.stop();
    await Promise.all([untilDelivered(lost), untilIndexed(lost), follower.untilSeen(lost)]);
    await backup.restore();
    await say('written');
    // More than were lost, so that their positions are used again.
    written = await writePosts('Written', 12);
  }, TEST_MS);
  afterAll(() => follower.stop());

  it('delivers each later event to webhooks once, and none of before again', async () => {
    await untilDelivered(written);
    const ids = receiver.arrivals.filter(({ event }) => event.type === 'post.created').map((arrival) => arrival.id);
    expect(ids).toHaveLength(3 + lost.length + written.length);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sends each later event once to clients that resume with Last-Event-ID', async () => {
    await follower.untilSeen(written);
    expect(new Set(follower.subjects).size).toBe(follower.subjects.length);
  });

  it('has later posts in the search index, and none that the database has not', async () => {
    await untilIndexed(written);
    expect(await indexed(lost)).toEqual([]);
  });

  it('refuses a subscription with a position of before with GONE, though there are events behind it', async () => {
    expect(await subscribe(position).end()).toEqual({ codes: ['GONE'] });
    const subscriber = subscribe();
    await subscriber.wait(1);
    await say('after');
    expect((await subscriber.wait(2))[1]?.data).toEqual({ messageAdded: { body: 'after' } });
    await subscriber.stop();
  });
});

describe('when a backup of the database of users is restored', () => {
  let lost: string[];
  let written: string[];
  let position = '';
  beforeAll(async () => {
    const backup = await back('users');
    lost = await createUsers('lost', 3);
    const posts = await writePosts('Before', 1);
    await Promise.all([untilDelivered([...lost, ...posts]), untilIndexed(lost)]);
    const list = await stack.call('GET', '/v1/events?limit=100', { token: ada.token });
    position = (list.body as { pagination: { nextCursor: string } }).pagination.nextCursor;
    await backup.restore();
    written = await createUsers('written', 8);
  }, TEST_MS);

  it('has later accounts in the search index, and none that the database has not', async () => {
    await untilIndexed(written);
    await until(async () => (await indexed(lost)).length === 0);
  });

  it('delivers each later event to webhooks once; those that the journal had not yet come again with the same id', async () => {
    await untilDelivered(written);
    for (const id of written) expect(deliveriesOf(id)).toHaveLength(1);
    const eventsOf = (subject: string) => new Set(deliveriesOf(subject).map(({ event }) => event.id));
    expect(receiver.arrivals.filter(({ event }) => eventsOf(event.subject).size > 1)).toEqual([]);
  });

  it('answers 410 to clients with a position of before, though there are events behind it; then they begin again', async () => {
    const read = (query: string) => stack.call('GET', `/v1/events?limit=100${query}`, { token: ada.token });
    await until(async () => {
      const { body } = await read('&type=user.created');
      return written.every((id) => (body as { data: { subject: string }[] }).data.some(({ subject }) => subject === id));
    });
    expect((await read(`&after=${position}`)).status).toBe(410);
    const headers = { authorization: `Bearer ${ada.token}`, 'last-event-id': position };
    const refused = await openEventStream(`${stack.rest}/v1/events`, { headers });
    expect(refused.response.statusCode).toBe(410);
    refused.close();
    const follower = await followEvents({ url: stack.rest, token: ada.token, type: 'post.created' });
    const posts = await writePosts('Again', 2);
    await follower.untilSeen(posts);
    await follower.stop();
  });
});
