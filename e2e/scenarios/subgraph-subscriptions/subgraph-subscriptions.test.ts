/** Events of a subgraph over its WebSocket: who gets them, from any process that writes, and without loss. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type SubscribeOptions, type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';
import type { Account, SubgraphName } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let eve: Account;
let admin: Account;
const channelId = 'chn_00000000000000000000000000';

beforeAll(async () => {
  stack = await leaseStack();
  [ada, eve, admin] = await Promise.all([stack.createAccount('Ada'), stack.createAccount('Eve'), stack.createAccount('Root', 'ADMIN')]);
  await stack.sql('content', 'INSERT INTO channels (id, name) VALUES ($1, $2)', [channelId, 'talk']);
});
afterAll(() => stack.stop());

const subscribers: Subscriber[] = [];
afterEach(() => Promise.all(subscribers.splice(0).map((subscriber) => subscriber.stop())));

const open = (subgraph: SubgraphName, options: SubscribeOptions): Subscriber => {
  const subscriber = subscribeTo(stack.subgraphs[subgraph].url, options);
  subscribers.push(subscriber);
  return subscriber;
};
/** Requests positions too: the first one shows that the subscription is active. */
const openAndWait = async (subgraph: SubgraphName, options: SubscribeOptions): Promise<Subscriber> => {
  const subscriber = open(subgraph, { resume: {}, ...options });
  await subscriber.wait(1);
  return subscriber;
};
async function ask<Data>(
  subgraph: SubgraphName,
  query: string,
  { token, variables }: { token?: string; variables?: object } = {},
): Promise<Data> {
  const { body } = await request(`${stack.subgraphs[subgraph].url}/graphql`, { method: 'POST', body: { query, variables }, token });
  const { data, errors } = body as { data: Data; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}
const dataOf = (subscriber: Subscriber) => subscriber.results.slice(1).map(({ data }) => data);

const MESSAGES = 'subscription ($channelId: ID!) { messageAdded(channelId: $channelId) { body author { id } channel { name } } }';
const say = (body: string) =>
  ask('content', 'mutation ($input: CreateMessageInput!) { createMessage(input: $input) { id } }', {
    token: ada.token,
    variables: { input: { channelId, body } },
  });

describe('userCreated', () => {
  it('sends each new account to all callers, and the e-mail address to those who may read it', async () => {
    const query = 'subscription { userCreated { name email } }';
    const [anonymous, boss] = await Promise.all([openAndWait('users', { query }), openAndWait('users', { query, token: admin.token })]);
    await stack.createAccount('Grace Hopper');
    await Promise.all([anonymous.wait(2), boss.wait(2)]);
    expect(boss.results[1]).toEqual({
      data: { userCreated: { name: 'Grace Hopper', email: 'grace.hopper@example.org' } },
      extensions: { position: expect.stringMatching(/^\d+\.evt_[0-9a-f]{26}$/) },
    });
    expect(anonymous.results[1]?.data).toEqual({ userCreated: { name: 'Grace Hopper', email: '***@masked.invalid' } });
    expect(anonymous.results[1]?.errors).toMatchObject([
      {
        path: ['userCreated', 'email'],
        extensions: { code: 'FORBIDDEN', masked: true, count: 1, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      },
    ]);
  });

  it('has no positions unless they are requested', async () => {
    const subscriber = open('users', { query: 'subscription { userCreated { name } }' });
    await until(async () => (await readMetric(stack.subgraphs.users.url, 'trestle_subscriptions_open{topic="userCreated"}')) === 1);
    await stack.createAccount('Plain');
    await subscriber.wait(1);
    expect(subscriber.results).toEqual([{ data: { userCreated: { name: 'Plain' } } }]);
    expect(await readMetric(stack.subgraphs.users.url, 'trestle_events_delivered_total{topic="userCreated"}')).toBeGreaterThan(0);
  });

  it('is sent by one process for what another one has written', async () => {
    const other = await stack.startSubgraph('users');
    const subscriber = subscribeTo(other.url, { query: 'subscription { userCreated { name } }', resume: {} });
    subscribers.push(subscriber);
    await subscriber.wait(1);
    await stack.createAccount('Elsewhere');
    await subscriber.wait(2);
    expect(dataOf(subscriber)).toEqual([{ userCreated: { name: 'Elsewhere' } }]);
  });
});

describe('messageAdded', () => {
  it('sends the messages of the channel in order to callers who are logged in', async () => {
    await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_00000000000000000000000001', 'other')`);
    const [here, there] = await Promise.all([
      openAndWait('content', { query: MESSAGES, variables: { channelId }, token: eve.token }),
      openAndWait('content', { query: MESSAGES, variables: { channelId: 'chn_00000000000000000000000001' }, token: eve.token }),
    ]);
    for (const body of ['one', 'two', 'three']) await say(body);
    await here.wait(4);
    expect(dataOf(here)).toEqual(
      ['one', 'two', 'three'].map((body) => ({ messageAdded: { body, author: { id: ada.id }, channel: { name: 'talk' } } })),
    );
    expect(there.results).toHaveLength(1);
  });

  it('is rejected for anonymous callers and for unknown channels', async () => {
    expect(await open('content', { query: MESSAGES, variables: { channelId } }).end()).toEqual({ codes: ['UNAUTHORIZED'] });
    const unknown = open('content', { query: MESSAGES, variables: { channelId: 'chn_nothing' }, token: ada.token });
    expect(await unknown.end()).toEqual({ codes: ['NOT_FOUND'] });
  });
});

describe('orderStatusChanged', () => {
  const QUERY = 'subscription ($orderId: ID) { orderStatusChanged(orderId: $orderId) { id status version items { qty } } }';
  const place = async (account: Account) => {
    const { createProduct } = await ask<{ createProduct: { id: string } }>(
      'orders',
      'mutation { createProduct(input: { name: "Rope", category: "ropes", price: 100, currency: "EUR", stock: 9 }) { id } }',
      { token: admin.token },
    );
    const { createOrder } = await ask<{ createOrder: { id: string } }>(
      'orders',
      'mutation ($productId: ID!) { createOrder(input: { productId: $productId, qty: 2 }) { id } }',
      { token: account.token, variables: { productId: createProduct.id } },
    );
    return createOrder.id;
  };
  const advance = (id: string, to: string) =>
    ask('orders', `mutation ($id: ID!) { advanceOrder(id: $id, to: ${to}) { id } }`, { token: admin.token, variables: { id } });
  const changeOf = (id: string, status: string, version: number) => ({ orderStatusChanged: { id, status, version, items: [{ qty: 2 }] } });

  it('sends customers their own orders and administrators all, each as it was at the event', async () => {
    const [mine, hers] = [await place(ada), await place(eve)];
    const before = await openAndWait('orders', { query: QUERY, token: admin.token });
    const [own, one] = await Promise.all([
      openAndWait('orders', { query: QUERY, token: ada.token }),
      openAndWait('orders', { query: QUERY, variables: { orderId: hers }, token: admin.token }),
    ]);
    await advance(mine, 'PAID');
    await advance(hers, 'PAID');
    await advance(mine, 'SHIPPED');
    await Promise.all([before.wait(4), own.wait(3), one.wait(2)]);
    expect(dataOf(before)).toEqual([changeOf(mine, 'PAID', 2), changeOf(hers, 'PAID', 2), changeOf(mine, 'SHIPPED', 3)]);
    expect(dataOf(own)).toEqual([changeOf(mine, 'PAID', 2), changeOf(mine, 'SHIPPED', 3)]);
    expect(dataOf(one)).toEqual([changeOf(hers, 'PAID', 2)]);
    const again = open('orders', { query: QUERY, token: ada.token, resume: { after: before.results[0]?.extensions?.position } });
    await again.wait(3);
    expect(dataOf(again)).toEqual(dataOf(own));
  });

  it('is rejected for orders of others and without a token', async () => {
    const orderId = await place(ada);
    expect(await open('orders', { query: QUERY, variables: { orderId }, token: eve.token }).end()).toEqual({ codes: ['NOT_FOUND'] });
    expect(await open('orders', { query: QUERY, variables: { orderId: 'x' }, token: admin.token }).end()).toEqual({ codes: ['NOT_FOUND'] });
    expect(await open('orders', { query: QUERY }).end()).toEqual({ codes: ['UNAUTHORIZED'] });
  });
});
