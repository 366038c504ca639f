/** Subscriptions through the whole system: a write at one subgraph, an event from PostgreSQL, the fields of other subgraphs, at a client of the gateway. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES, type SubgraphName } from '@trestle/schema/subgraphs';
import { until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let admin: Account;
beforeAll(async () => {
  stack = await leaseStack();
  [ada, bob, admin] = await Promise.all([
    stack.createAccount('Live Ada'),
    stack.createAccount('Live Bob'),
    stack.createAccount('Live Admin', 'ADMIN'),
  ]);
});
afterAll(() => stack.stop());
// The subscriptions of the test before have ended.
beforeEach(() => until(async () => (await Promise.all(SUBGRAPH_NAMES.map(subscribers))).every((count) => count === 0)));

const opened: SocketClient[] = [];
const open = async (account?: Account) => {
  const client = await openSocket(`${stack.gateway}/graphql`, { init: account ? { authorization: `Bearer ${account.token}` } : {} });
  opened.push(client);
  return client;
};
// A failed test leaves no subscription behind.
afterEach(() => {
  for (const client of opened.splice(0)) client.socket.terminate();
});
/** Subscribes, and waits until the subgraph has it. */
const listen = async (client: SocketClient, { id = '1', subgraph, query, variables }: Wanted) => {
  const before = await subscribers(subgraph);
  client.send({ id, type: 'subscribe', payload: { query, variables } });
  await until(async () => client.waiting.length > 0 || (await subscribers(subgraph)) > before);
  expect(client.waiting).toEqual([]);
};
interface Wanted {
  readonly id?: string;
  readonly subgraph: SubgraphName;
  readonly query: string;
  readonly variables?: object;
}
const subscribers = async (subgraph: Wanted['subgraph']) => {
  const text = await (await fetch(`${stack.subgraphs[subgraph].url}/metrics`)).text();
  return Array.from(text.matchAll(/^trestle_subscriptions_open\S* (\d+)$/gm), ([, count]) => Number(count)).reduce((sum, n) => sum + n, 0);
};
const NEW_USER = 'subscription { userCreated { id name email posts { title } orders { total customer { name } } } }';
let made = 0;
const createUser = async () => {
  const account = await stack.createAccount(`Live Number ${String(made++)}`);
  return account.id;
};
const idOf = ({ payload }: { payload?: unknown }) => (payload as { data?: { userCreated?: { id: string } } }).data?.userCreated?.id;

describe('userCreated', () => {
  it('has the fields of the other subgraphs, and masks what the subscriber may not read', async () => {
    const client = await open(ada);
    await listen(client, { subgraph: 'users', query: NEW_USER });
    const id = await createUser();
    expect(await client.next()).toEqual({
      id: '1',
      type: 'next',
      payload: {
        data: { userCreated: { id, name: expect.stringMatching(/^Live Number \d+$/), email: '***@masked.invalid', posts: [], orders: [] } },
        errors: [
          expect.objectContaining({
            path: ['userCreated', 'email'],
            extensions: expect.objectContaining({ code: 'FORBIDDEN', masked: true, coordinate: 'User.email' }),
          }),
        ],
      },
    });
    await client.close();
  });

  it('shows an administrator what it masks for others in the same event', async () => {
    const [one, other] = await Promise.all([open(ada), open(admin)]);
    const query = 'subscription { userCreated { id email } }';
    await listen(one, { subgraph: 'users', query });
    await listen(other, { subgraph: 'users', query });
    await createUser();
    const emailOf = ({ payload }: { payload?: unknown }) =>
      (payload as { data: { userCreated: { email: string } } }).data.userCreated.email;
    expect(emailOf(await one.next())).toBe('***@masked.invalid');
    expect(emailOf(await other.next())).toMatch(/^live\.number\.\d+@example\.org$/);
    await Promise.all([one.close(), other.close()]);
  });

  it('has one source stream for all callers when it selects public fields only', async () => {
    const clients = await Promise.all([open(), open(ada), open(bob)]);
    const before = await subscribers('users');
    for (const client of clients)
      client.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { userCreated { id name } }' } });
    await until(async () => (await subscribers('users')) === before + 1);
    const id = await createUser();
    for (const client of clients) expect(idOf(await client.next())).toBe(id);
    expect(await subscribers('users')).toBe(before + 1);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('is served over server-sent events, as README shows', async () => {
    const before = await subscribers('users');
    const stream = await openEventStream(`${stack.gateway}/graphql`, { query: 'subscription { userCreated { id name posts { title } } }' });
    await until(async () => (await subscribers('users')) > before);
    const id = await createUser();
    await until(() => Promise.resolve(stream.events.length === 1));
    expect(stream.events).toEqual([{ event: 'next', data: { data: { userCreated: { id, name: expect.any(String), posts: [] } } } }]);
    stream.close();
  });
});

describe('messageAdded', () => {
  it('sends the messages of its channel with their authors to callers who are logged in', async () => {
    const [channel, other] = await stack.sql<{ id: string }>(
      'content',
      `INSERT INTO channels (id, name, "updatedAt") VALUES ('chn_0000000000000000000000ch01', 'live1', now()), ('chn_0000000000000000000000ch02', 'live2', now()) RETURNING id`,
    );
    const query = 'subscription ($id: ID!) { messageAdded(channelId: $id) { body author { name } channel { name } } }';
    const client = await open(ada);
    await listen(client, { subgraph: 'content', query, variables: { id: channel?.id } });
    // Mutations go over the socket as well.
    const speaker = await open(bob);
    const say = async (channelId: string | undefined, body: string) => {
      const query = 'mutation ($input: CreateMessageInput!) { createMessage(input: $input) { body } }';
      speaker.send({ id: body, type: 'subscribe', payload: { query, variables: { input: { channelId, body } } } });
      expect(await speaker.next()).toEqual({ id: body, type: 'next', payload: { data: { createMessage: { body } } } });
      expect(await speaker.next()).toEqual({ id: body, type: 'complete' });
    };
    await say(other?.id, 'elsewhere');
    await say(channel?.id, 'here');
    expect((await client.next()).payload).toEqual({
      data: { messageAdded: { body: 'here', author: { name: 'Live Bob' }, channel: { name: 'live1' } } },
    });
    const anonymous = await open();
    anonymous.send({ id: '1', type: 'subscribe', payload: { query, variables: { id: channel?.id } } });
    expect(await anonymous.next()).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'UNAUTHORIZED' } }] });
    client.send({ id: '2', type: 'subscribe', payload: { query, variables: { id: 'chn_0000000000000000000000ch99' } } });
    expect(await client.next()).toMatchObject({ id: '2', type: 'error', payload: [{ extensions: { code: 'NOT_FOUND' } }] });
    await Promise.all([client.close(), anonymous.close(), speaker.close()]);
  });
});

describe('orderStatusChanged', () => {
  it('sends each state to the owner and to administrators only', async () => {
    const [product] = await stack.sql<{ id: number }>(
      'orders',
      `INSERT INTO products (name, description, category, price, currency, stock, "updatedAt") VALUES ('Rope', 'Long', 'tools', 500, 'EUR', 50, now()) RETURNING id`,
    );
    const order = async (account: Account) => {
      const { data } = await stack.graphql<{ createOrder: { id: string } }>(
        'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { id } }',
        { variables: { input: { productId: String(product?.id), qty: 1 } }, token: account.token },
      );
      return data?.createOrder.id ?? '';
    };
    const cancel = (id: string, account: Account) =>
      stack.graphql('mutation ($id: ID!) { cancelOrder(id: $id) { id } }', { variables: { id }, token: account.token });
    const [mine, theirs] = [await order(ada), await order(bob)];
    const query = 'subscription ($id: ID) { orderStatusChanged(orderId: $id) { id status customer { name } } }';
    const [one, all] = await Promise.all([open(ada), open(admin)]);
    await listen(one, { subgraph: 'orders', query });
    await listen(all, { subgraph: 'orders', query });
    one.send({ id: '2', type: 'subscribe', payload: { query, variables: { id: theirs } } });
    expect(await one.next()).toMatchObject({ id: '2', type: 'error', payload: [{ extensions: { code: 'NOT_FOUND' } }] });
    await cancel(theirs, bob);
    await cancel(mine, ada);
    const event = (id: string, name: string) => ({ data: { orderStatusChanged: { id, status: expect.any(String), customer: { name } } } });
    expect((await one.next()).payload).toEqual(event(mine, 'Live Ada'));
    expect((await all.next()).payload).toEqual(event(theirs, 'Live Bob'));
    expect((await all.next()).payload).toEqual(event(mine, 'Live Ada'));
    await Promise.all([one.close(), all.close()]);
  });
});

describe('a subgraph that is restarted under 200 subscribers', () => {
  it.each([
    ['by SIGKILL', 'SIGKILL'],
    ['by SIGTERM', 'SIGTERM'],
  ] as const)('%s: continues each subscription without a lost event', async (_, signal) => {
    const accounts = Array.from({ length: 20 }, (_, n) => ({
      id: `usr_x${String(n)}`,
      token: stack.issueToken(`usr_x${String(n)}`, 'USER'),
    }));
    const clients = await Promise.all(Array.from({ length: 200 }, (_, n) => open(accounts[n % 20])));
    const before = await subscribers('users');
    // `email` is not public: each of the twenty identities has a source stream of its own.
    for (const client of clients)
      client.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { userCreated { id email } }' } });
    await until(async () => (await subscribers('users')) === before + 20);
    const ids = [await createUser()];
    for (const client of clients) expect(idOf(await client.next())).toBe(ids[0]);
    await stack.kill('users', signal);
    // Events are written to its database while it is down.
    for (let n = 0; n < 5; n++) {
      const id = `usr_away${signal}${String(n)}`;
      ids.push(id);
      await stack.sql(
        'users',
        `INSERT INTO users (id, email, name, "passwordHash", role, "updatedAt") VALUES ($1, $2, 'Away', 'x', 'USER', now())`,
        [id, `${id}@example.org`.toLowerCase()],
      );
    }
    await stack.revive('users');
    ids.push(await createUser());
    for (const client of clients) {
      const heard: (string | undefined)[] = [ids[0]];
      while (heard.length < ids.length) heard.push(idOf(await client.next()));
      expect(heard).toEqual(ids);
    }
    await Promise.all(clients.map((client) => client.close()));
  });
});
