/** Events of every change (contract §3), as the three subgraphs serve them to each other. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHttpFeed } from '@trestle/chassis/events/feeds/http-feed';
import { type DomainEvent, type EventFeed, MAX_FEED_EVENTS } from '@trestle/chassis/events/feeds/domain-event';
import { until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account, SubgraphName } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let admin: Account;
const feeds: Partial<Record<SubgraphName, EventFeed>> = {};
const signal = AbortSignal.timeout(120_000);

beforeAll(async () => {
  stack = await leaseStack();
  const key = await readFile(stack.keyFiles.EVENTS_KEY_FILE, 'utf8');
  for (const source of ['users', 'orders', 'content'] as const)
    feeds[source] = createHttpFeed({ source, url: `${stack.subgraphs[source].url}/events`, key, waitSeconds: 1 });
  ada = await stack.createAccount('Ada');
  admin = await stack.createAccount('Admin', 'ADMIN');
});
afterAll(() => stack.stop());

/** Reads all events of a subgraph: a leased stack has those of earlier tests, too. */
async function readAll(source: SubgraphName): Promise<DomainEvent[]> {
  const all: DomainEvent[] = [];
  let page: readonly DomainEvent[];
  do {
    page = (await feeds[source]?.read(all.at(-1)?.position, MAX_FEED_EVENTS, signal)) ?? [];
    all.push(...page);
  } while (page.length === MAX_FEED_EVENTS);
  return all;
}

/** Reads all events of a subgraph that are about one entity, once its feed has as many as are stored. */
async function eventsOf(source: SubgraphName, subject: string): Promise<DomainEvent[]> {
  const stored = await stack.sql(source, 'SELECT FROM outbox WHERE subject = $1 AND audience IS NOT NULL', [subject]);
  let found: DomainEvent[] = [];
  await until(async () => {
    found = (await readAll(source)).filter((event) => event.subject === subject);
    return found.length >= stored.length;
  });
  return found;
}
const summaryOf = (events: readonly DomainEvent[]) => events.map(({ type, audience, ownerId }) => [type, audience, ownerId]);

async function mutate(field: string, { token }: Account): Promise<string> {
  const { data, errors } = await stack.graphql<{ it: { id: string } }>(`mutation { it: ${field} }`, { token });
  expect(errors).toEqual([]);
  return data?.it.id ?? '';
}

describe('events', () => {
  it('report what happens to an account, and changes of private fields to its owner only', async () => {
    await mutate(`updateUser(id: "${ada.id}", input: { bio: "Counts." }) { id }`, ada);
    await stack.sql('users', `UPDATE users SET plan = 'pro' WHERE id = $1`, [ada.id]);
    expect(summaryOf(await eventsOf('users', ada.id))).toEqual([
      ['user.created', 'PUBLIC', ada.id],
      ['user.updated', 'PUBLIC', ada.id],
      ['user.updated', 'OWNER', ada.id],
    ]);
    expect((await eventsOf('users', ada.id))[0]?.data).toEqual({ version: 1 });
  });

  it('report a post from draft to deletion, and are public from its publication on', async () => {
    const id = await mutate('createPost(input: { title: "T", body: "B" }) { id }', ada);
    for (const input of ['title: "U"', 'status: PUBLISHED', 'status: ARCHIVED'])
      await mutate(`updatePost(id: "${id}", input: { ${input} }) { id }`, ada);
    await stack.graphql(`mutation { deletePost(id: "${id}") }`, { token: ada.token });
    const events = await eventsOf('content', id);
    expect(summaryOf(events)).toEqual([
      ['post.created', 'OWNER', ada.id],
      ['post.updated', 'OWNER', ada.id],
      ['post.published', 'PUBLIC', ada.id],
      ['post.archived', 'PUBLIC', ada.id],
      ['post.deleted', 'OWNER', ada.id],
    ]);
    expect(events.map(({ data }) => data['version'])).toEqual([1, 2, 3, 4, 4]);
    expect(JSON.stringify(events)).not.toMatch(/"T"|"U"|"B"/);
  });

  it('report comments and messages to those who may read them', async () => {
    const post = await mutate('createPost(input: { title: "T", body: "B", status: PUBLISHED }) { id }', ada);
    const comment = await mutate(`createComment(input: { postId: "${post}", body: "Well." }) { id }`, admin);
    await mutate(`updateComment(id: "${comment}", input: { body: "Very well." }) { id }`, admin);
    await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_1', 'one') ON CONFLICT DO NOTHING`);
    await stack.sql('content', `INSERT INTO messages (id, "channelId", "authorId", body) VALUES ('msg_1', 'chn_1', $1, 'Hi')`, [ada.id]);
    expect(summaryOf(await eventsOf('content', post)).map(([type]) => type)).toEqual(['post.created', 'post.published']);
    expect(summaryOf(await eventsOf('content', comment))).toEqual([
      ['comment.created', 'PUBLIC', admin.id],
      ['comment.updated', 'PUBLIC', admin.id],
    ]);
    expect(await eventsOf('content', 'msg_1')).toMatchObject([{ type: 'message.added', audience: 'USER', data: { channelId: 'chn_1' } }]);
  });

  it('report an order with its payment, each state once', async () => {
    await stack.sql(
      'orders',
      `INSERT INTO products (id, name, description, category, price, currency, stock) VALUES (900, 'P', '', 'c', 100, 'EUR', 5)`,
    );
    const order = await mutate('createOrder(input: { productId: 900, qty: 1 }) { id }', ada);
    const payment = await mutate(
      `createPayment(input: { orderId: "${order}", amount: 100, currency: "EUR", customerId: "${ada.id}" }) { id }`,
      ada,
    );
    await mutate(`cancelOrder(id: "${order}") { id }`, ada);
    const events = await eventsOf('orders', order);
    expect(summaryOf(events)).toEqual([
      ['order.created', 'OWNER', ada.id],
      ['order.paid', 'OWNER', ada.id],
      ['order.cancelled', 'OWNER', ada.id],
    ]);
    expect(events[1]?.data).toMatchObject({ from: 'PENDING', status: 'PAID', version: 2 });
    expect(summaryOf(await eventsOf('orders', payment)).map(([type]) => type)).toEqual(['payment.created', 'payment.refunded']);
    expect((await eventsOf('orders', '900')).map(({ type }) => type)).toEqual(['product.created']);
  });

  it('are served only with the key, and never revocations of tokens', async () => {
    const at = `${stack.subgraphs.users.url}/events`;
    const statusOf = async (query: string, headers = {}) => (await fetch(`${at}${query}`, { headers })).status;
    const key = { authorization: `Bearer ${await readFile(stack.keyFiles.EVENTS_KEY_FILE, 'utf8')}` };
    expect([await statusOf(''), await statusOf('', { authorization: 'Bearer x' }), await statusOf('', key)]).toEqual([401, 401, 200]);
    expect([await statusOf('?limit=0', key), await statusOf('?limit=1001', key), await statusOf('?wait=x', key)]).toEqual([400, 400, 400]);
    expect([await statusOf('?after=x', key), await statusOf(`?after=1.evt_${'0'.repeat(26)}`, key)]).toEqual([400, 410]);
    await stack.sql('users', `SELECT "emit_revocation"($1, '{"tokenId": "x"}')::text`, [ada.id]);
    expect((await readAll('users')).map(({ type }) => type)).not.toContain('tokens.revoked');
  });
});
