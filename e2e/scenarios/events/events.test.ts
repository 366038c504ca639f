/** Events of all subgraphs as a list, as a stream of server-sent events and as a subscription (spec §6, contract §4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Reply, until } from '../../stack/clients/client.ts';
import { type OpenResponse, openEventStream } from '../../stack/clients/event-stream.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
const opened: OpenResponse[] = [];

beforeAll(async () => {
  stack = await leaseStack();
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
});
afterAll(async () => {
  for (const stream of opened) stream.close();
  await stack.stop();
});

interface CloudEvent {
  readonly specversion: string;
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly data: object;
}
interface Page {
  readonly data: readonly CloudEvent[];
  readonly pagination: { readonly nextCursor: string; readonly hasNextPage: boolean };
}

const list = async (query: string, account: Account) => {
  const reply = await stack.call('GET', `/v1/events?${query}`, { token: account.token });
  return { status: reply.status, reply, page: reply.body as Page };
};
/** Reads all events behind a cursor. */
async function readOn(account: Account, after = '', type = ''): Promise<{ events: readonly CloudEvent[]; cursor: string }> {
  const { page } = await list(`limit=100&after=${after}${type === '' ? '' : `&type=${type}`}`, account);
  if (!page.pagination.hasNextPage) return { events: page.data, cursor: page.pagination.nextCursor };
  const rest = await readOn(account, page.pagination.nextCursor, type);
  return { events: [...page.data, ...rest.events], cursor: rest.cursor };
}
const stream = async (
  account: Account,
  { query = '', last, url = stack.rest }: { query?: string; last?: string | undefined; url?: string } = {},
) => {
  const headers = { authorization: `Bearer ${account.token}`, ...(last !== undefined && { 'last-event-id': last }) };
  const open = await openEventStream(`${url}/v1/events${query}`, { headers });
  opened.push(open);
  return open;
};
const blocksOf = ({ text }: OpenResponse) =>
  text.split('\n\n').flatMap((block) => {
    const [id, data] = [/^id: (.*)$/m.exec(block)?.[1], /^data: (.*)$/m.exec(block)?.[1]];
    return data === undefined || /^event: /m.test(block) ? [] : [{ id: id ?? '', event: JSON.parse(data) as CloudEvent }];
  });
const writePost = async (account: Account, title: string) => {
  const reply = await stack.call('POST', '/v1/posts', { token: account.token, body: { title, body: 'x' } });
  expect(reply.status).toBe(201);
  return (reply.body as { id: string }).id;
};
const codeOf = ({ body }: Pick<Reply, 'body'>) => (body as { error?: { code: string } }).error?.code;

describe('GET /v1/events', () => {
  it('lists what has happened in every subgraph as CloudEvents, oldest first', async () => {
    const post = await writePost(ada, 'Listed');
    const message = await stack.call('POST', '/v1/users', { body: { email: 'new@example.org', name: 'New', password: 'New-passes-1' } });
    await until(async () => {
      const { events } = await readOn(ada);
      return (
        events.some(({ subject }) => subject === post) && events.some(({ subject }) => subject === (message.body as { id: string }).id)
      );
    });
    const { events } = await readOn(ada);
    const created = events.find(({ subject }) => subject === post);
    expect(created).toMatchObject({ specversion: '1.0', type: 'post.created', source: '/content', subject: post });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(JSON.stringify(events)).not.toContain('@example.org');
  });

  it('shows drafts to their author and moderators only', async () => {
    const post = await writePost(ada, 'Hidden');
    await until(async () => (await readOn(ada)).events.some(({ subject }) => subject === post));
    expect((await readOn(bob)).events.some(({ subject }) => subject === post)).toBe(false);
    const moderator = await stack.createAccount('Mod', 'MODERATOR');
    expect((await readOn(moderator)).events.some(({ subject }) => subject === post)).toBe(true);
  });

  it('goes on behind `after`, also when nothing has happened yet', async () => {
    const { cursor } = await readOn(ada, '', 'post.*');
    const { page } = await list(`type=post.*&after=${cursor}`, ada);
    expect([page.data, page.pagination.hasNextPage]).toEqual([[], false]);
    const post = await writePost(ada, 'Next');
    await until(async () => (await readOn(ada, cursor, 'post.created')).events.length > 0);
    expect((await readOn(ada, cursor, 'post.created')).events.map(({ subject }) => subject)).toEqual([post]);
    expect((await readOn(ada, cursor, 'order.*')).events).toEqual([]);
  });

  it('refuses other types, cursors that are none, and callers without a credential', async () => {
    expect([(await list('type=post.eaten', ada)).status, (await list('after=x', ada)).status]).toEqual([400, 400]);
    expect((await stack.call('GET', '/v1/events')).status).toBe(401);
    expect((await list('type=nope.*', ada)).reply.body).toMatchObject({ error: { details: [{ field: 'type' }] } });
    const gone = Buffer.from(JSON.stringify(['users', '99999999'])).toString('base64url');
    const { reply } = await list(`after=${gone}`, ada);
    expect([reply.status, codeOf(reply)]).toEqual([410, 'GONE']);
  });
});

describe('a stream of events', () => {
  it('sends what happens, filtered by type, and resumes behind `Last-Event-ID` without loss', async () => {
    const first = await stream(ada, { query: '?type=post.created' });
    expect([first.response.statusCode, first.response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const before = await writePost(ada, 'Seen');
    await until(() => Promise.resolve(blocksOf(first).length === 1));
    const [seen] = blocksOf(first);
    expect(seen?.event).toMatchObject({ specversion: '1.0', type: 'post.created', subject: before });
    first.close();
    const missed = [await writePost(ada, 'Missed 1'), await writePost(ada, 'Missed 2')];
    const second = await stream(ada, { query: '?type=post.created', last: seen?.id });
    const live = await writePost(ada, 'Live');
    await until(() => Promise.resolve(blocksOf(second).length >= 3));
    expect(blocksOf(second).map(({ event }) => event.subject)).toEqual([...missed, live]);
    const { page } = await list(`type=post.created&after=${blocksOf(second)[0]?.id ?? ''}`, ada);
    expect(page.data.map(({ subject }) => subject)).toEqual([missed[1], live]);
    second.close();
  });

  it('survives a kill of the users process', async () => {
    const open = await stream(bob, { query: '?type=user.created' });
    const names = ['One', 'Two'];
    const create = async (name: string) =>
      (await stack.call('POST', '/v1/users', { body: { email: `${name}@kill.example`, name, password: `${name}-passes-1` } })).status;
    expect(await create(names[0] ?? '')).toBe(201);
    await until(() => Promise.resolve(blocksOf(open).length === 1));
    await stack.kill('users');
    await stack.revive('users');
    await until(async () => (await create(names[1] ?? '')) === 201);
    await until(() => Promise.resolve(blocksOf(open).length === 2));
    open.close();
  });

  it('is refused with the status of its error before it begins', async () => {
    const gone = Buffer.from(JSON.stringify(['users', '99999999'])).toString('base64url');
    expect((await stream(ada, { last: gone })).response.statusCode).toBe(410);
    expect((await stream(ada, { query: '?type=nothing' })).response.statusCode).toBe(400);
    expect((await stream({ id: '', token: 'x' })).response.statusCode).toBe(401);
  });

  it.each([
    ['after', { query: '?after=zzz' }],
    ['cursor', { query: '?cursor=zzz' }],
    ['Last-Event-ID', { last: 'zzz' }],
  ])('is refused for a position that is none, and the error names %s', async (field, options) => {
    const refused = await stream(ada, options);
    await until(() => Promise.resolve(refused.isOver));
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: [{ field }] } });
  });

  it('answers HEAD as GET, without events, and ends', async () => {
    const headers = { accept: 'text/event-stream' };
    const head = (query = '', token = ada.token) => stack.call('HEAD', `/v1/events${query}`, { token, headers });
    const found = await head('?type=post.created');
    expect([found.status, found.headers.get('content-type'), found.headers.get('cache-control')]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    expect([(await head('?after=zzz')).status, (await head('', 'x')).status]).toEqual([400, 401]);
    // An account may have ten streams at once: none of these is left.
    for (let i = 0; i < 11; i++) expect((await head()).status).toBe(200);
  });

  it('is limited to ten for an account at each bridge', async () => {
    const eve = await stack.createAccount('Eve');
    const url = stack.direct.rest;
    const open = [];
    for (let i = 0; i < 10; i++) open.push(await stream(eve, { url }));
    expect(open.map(({ response }) => response.statusCode)).toEqual(Array(10).fill(200));
    expect((await stream(eve, { url })).response.statusCode).toBe(429);
    // The limit is that of the account: others are not shut out.
    expect((await stream(bob, { url })).response.statusCode).toBe(200);
    open[0]?.close();
    await until(async () => (await stream(eve, { url })).response.statusCode === 200);
  });

  it('ends when the bridge stops, and clients resume at another', async () => {
    const bridge = await stack.startBridge();
    const open = await openEventStream(`${bridge.url}/v1/events`, { headers: { authorization: `Bearer ${ada.token}` } });
    expect(open.response.statusCode).toBe(200);
    await bridge.end('SIGTERM');
    await until(() => Promise.resolve(open.isOver));
  });
});
