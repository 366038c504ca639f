/** Tokens that are revoked: by whom, for what, and where that is known (spec §5.3, contract §4, ADR 10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let admin: Account;
let count = 0;

beforeAll(async () => {
  stack = await leaseStack();
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

interface LoggedIn {
  readonly id: string;
  readonly token: string;
  logIn(): Promise<string>;
}

/** Creates an account and logs in by password. */
async function arrive(): Promise<LoggedIn> {
  const name = `Guest${String(++count)}`;
  const { id } = await stack.createAccount(name);
  const logIn = async () => {
    const { status, body } = await stack.call('POST', '/v1/auth/login', {
      body: { email: `${name.toLowerCase()}@example.org`, password: `${name}-passes-1` },
    });
    if (status !== 200) throw new Error(`The login was answered with ${String(status)}`);
    return (body as { accessToken: string }).accessToken;
  };
  return { id, token: await logIn(), logIn };
}

const asks = (url: string, token: string, query = '{ me { id } }') =>
  request(`${url}/graphql`, { method: 'POST', body: { query }, token }).then(({ status }) => status);
const atGateway = (token: string) => asks(stack.gateway, token);
const atSubgraph = (name: 'users' | 'orders' | 'content', token: string) => asks(stack.subgraphs[name].url, token, '{ __typename }');
const logOut = (token: string, everywhere = false) => stack.graphql(`mutation { logout(everywhere: ${String(everywhere)}) }`, { token });
const changeUser = (id: string, input: string) =>
  stack.graphql(`mutation { updateUser(id: "${id}", input: ${input}) { id } }`, { token: admin.token });

/** An id's letters are those of Crockford's alphabet. */
const CHANNEL = 'chn_000000000000000000000000c1';
const NEWS = 'subscription { orderStatusChanged { id } }';

describe('logout', () => {
  it('revokes the token that was used, and no other one of the account', async () => {
    const guest = await arrive();
    const other = await guest.logIn();
    expect(await logOut(guest.token)).toMatchObject({ status: 200, data: { logout: true }, errors: [] });
    expect(await atGateway(guest.token)).toBe(401);
    expect(await atGateway(other)).toBe(200);
    expect(await atGateway(await guest.logIn())).toBe(200);
  });

  it('answers 204 by REST; then the token gets 401, for another logout too', async () => {
    const guest = await arrive();
    expect((await stack.call('POST', '/v1/auth/logout', { token: guest.token })).status).toBe(204);
    for (const [method, path] of [
      ['GET', `/v1/users/${guest.id}`],
      ['GET', '/v1/products'],
      ['POST', '/v1/auth/logout'],
    ] as const) {
      const reply = await stack.call(method, path, { token: guest.token });
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="api", error="invalid_token"');
    }
  });

  it('revokes all tokens of the account with `everywhere`, by REST and GraphQL', async () => {
    const [one, two] = [await arrive(), await arrive()];
    const [otherOfOne, otherOfTwo] = [await one.logIn(), await two.logIn()];
    expect((await logOut(one.token, true)).data).toEqual({ logout: true });
    expect((await stack.call('POST', '/v1/auth/logout?everywhere=true', { token: two.token })).status).toBe(204);
    for (const token of [one.token, otherOfOne, two.token, otherOfTwo]) expect(await atGateway(token)).toBe(401);
    expect(await atGateway(await one.logIn())).toBe(200);
  });

  it('requires a caller who is logged in, and a Boolean `everywhere`', async () => {
    expect((await stack.call('POST', '/v1/auth/logout')).status).toBe(401);
    expect((await stack.graphql('mutation { logout }')).status).toBe(401);
    const { token } = await arrive();
    const reply = await stack.call('POST', '/v1/auth/logout?everywhere=maybe', { token });
    expect(reply).toMatchObject({ status: 400, body: { error: { details: [{ field: 'everywhere' }] } } });
    expect(await atGateway(token)).toBe(200);
  });
});

describe('the tokens of an account', () => {
  it.each([
    ['its role changes', (id: string) => changeUser(id, '{ role: MODERATOR }')],
    ['it may not log in any more', (id: string) => changeUser(id, '{ isActive: false }')],
    ['it is deleted', (id: string) => stack.graphql(`mutation { deleteUser(id: "${id}") }`, { token: admin.token })],
    [
      'it is replaced by one with another role',
      (id: string) =>
        stack.call('PUT', `/v1/users/${id}`, {
          token: admin.token,
          body: { email: `${id.slice(4).toLowerCase()}@example.org`, name: 'Other', role: 'moderator' },
        }),
    ],
  ])('are revoked at once when %s', async (_, change) => {
    const guest = await arrive();
    await change(guest.id);
    expect(await atGateway(guest.token)).toBe(401);
  });

  it.each([
    ['its role', `UPDATE users SET role = 'ADMIN' WHERE id = $1`],
    ['its password', `UPDATE users SET "passwordHash" = 'other' WHERE id = $1`],
    ['the account', 'DELETE FROM users WHERE id = $1'],
  ])('are revoked when %s is changed or deleted in the database', async (_, text) => {
    const guest = await arrive();
    await stack.sql('users', text, [guest.id]);
    await until(async () => (await atGateway(guest.token)) === 401);
  });

  it('stay valid when the name changes', async () => {
    const guest = await arrive();
    await changeUser(guest.id, '{ name: "Other", bio: "x", isActive: true, role: USER }');
    expect(await atGateway(guest.token)).toBe(200);
  });
});

describe('a subscriber whose token is revoked', () => {
  it('is closed with 4403 on a WebSocket without another event, and others continue', async () => {
    const guest = await arrive();
    const other = await guest.logIn();
    const [ended, kept] = await Promise.all(
      [guest.token, other].map((token) => openSocket(`${stack.gateway}/graphql`, { init: { authorization: `Bearer ${token}` } })),
    );
    const idle = await openSocket(`${stack.gateway}/graphql`, { headers: { authorization: `Bearer ${guest.token}` } });
    for (const client of [ended, kept]) client?.send({ id: '1', type: 'subscribe', payload: { query: NEWS } });
    await logOut(guest.token);
    expect((await ended?.closed)?.code).toBe(4403);
    expect((await idle.closed).code).toBe(4403);
    kept?.send({ type: 'ping' });
    expect((await kept?.next())?.type).toBe('pong');
    await kept?.close();
  });

  it('gets UNAUTHORIZED and the end of its event stream', async () => {
    const guest = await arrive();
    const stream = await openEventStream(`${stack.gateway}/graphql`, { query: NEWS, headers: { authorization: `Bearer ${guest.token}` } });
    await logOut(guest.token);
    await until(() => Promise.resolve(stream.isOver));
    expect(stream.events).toEqual([
      // By the gateway itself, or by the subgraph, whichever knows first.
      { event: 'next', data: { errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAUTHORIZED' }) })] } },
      { event: 'complete', data: undefined },
    ]);
  });

  it.each(['users', 'orders', 'content'] as const)('is closed with 4403 by the %s subgraph, which answers 401 then', async (name) => {
    const guest = await arrive();
    const query = {
      users: 'userCreated',
      orders: 'orderStatusChanged',
      content: `messageAdded(channelId: "${CHANNEL}")`,
    };
    if (name === 'content') {
      await stack.sql('content', `INSERT INTO channels (id, name) VALUES ($1, 'one')`, [CHANNEL]);
    }
    const subscriber = subscribeTo(stack.subgraphs[name].url, {
      query: `subscription { ${query[name]} { id } }`,
      token: guest.token,
      resume: {},
    });
    await subscriber.wait(1);
    await logOut(guest.token);
    expect(await atSubgraph(name, guest.token)).toBe(401);
    expect(await subscriber.end()).toEqual({ close: 4403 });
  });
});

describe('a process', () => {
  /** At every gateway itself: load balancers do not pass on `/metrics`. */
  const readCurrent = () => Promise.all(stack.nodes.map(({ gateway }) => readMetric(gateway.url, 'trestle_revocations_current')));

  it('knows the revocations of another process of the users subgraph when they are answered', async () => {
    const guest = await arrive();
    const second = await stack.startSubgraph('users');
    expect(await asks(second.url, guest.token, 'mutation { logout }')).toBe(200);
    expect(await atGateway(guest.token)).toBe(401);
    expect(await atSubgraph('content', guest.token)).toBe(401);
  });

  it('receives earlier revocations when it starts', async () => {
    const guest = await arrive();
    const other = await guest.logIn();
    await logOut(guest.token);
    const [gateway, users] = await Promise.all([stack.startGateway(), stack.startSubgraph('users')]);
    expect(await asks(gateway.url, guest.token)).toBe(401);
    expect(await asks(gateway.url, other)).toBe(200);
    await until(async () => (await asks(users.url, guest.token)) === 401);
  });

  it('rejects known revoked tokens while the users subgraph is down, and receives the missed revocations afterwards', async () => {
    const [before, during] = [await arrive(), await arrive()];
    await logOut(before.token);
    await stack.kill('users');
    // Nothing is asked of the users subgraph.
    const product = (token: string) =>
      Promise.all(stack.nodes.map(({ gateway }) => asks(gateway.url, token, '{ product(id: "1") { id } }')));
    const each = (value: number) => stack.nodes.map(() => value);
    expect(await product(before.token)).toEqual(each(401));
    await stack.sql('users', `UPDATE users SET role = 'MODERATOR' WHERE id = $1`, [during.id]);
    await until(async () => (await readCurrent()).every((value) => value === 0));
    expect(await product(during.token)).toEqual(each(200));
    await stack.revive('users');
    await until(async () => (await product(during.token)).every((status) => status === 401));
    await until(async () => (await atSubgraph('orders', during.token)) === 401);
    expect(await product(before.token)).toEqual(each(401));
    expect(await readCurrent()).toEqual(each(1));
  });
});

it('issues no token with a role that the account has lost while logins and changes of the role race', async () => {
  const guest = await arrive();
  const roles = ['ADMIN', 'USER'] as const;
  const logins = Promise.allSettled(Array.from({ length: 24 }, () => guest.logIn()));
  for (let i = 0; i < 24; i++) await stack.sql('users', 'UPDATE users SET role = $2::"Role" WHERE id = $1', [guest.id, roles[i % 2]]);
  const outcomes = await logins;
  // A login whose account has got another role since its password was checked is refused.
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).message] : []));
  expect(refused.filter((message) => !message.endsWith(' 401'))).toEqual([]);
  const tokens = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  // The last change has made a mere user of it. Once that is known, nothing that was given before it holds.
  const last = await guest.logIn();
  await changeUser(guest.id, '{ bio: "x" }');
  await until(async () => (await atGateway(guest.token)) === 401);
  for (const token of tokens) {
    if ((await atGateway(token)) === 401) continue;
    const { role } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { role: string };
    expect(role).toBe('USER');
  }
  expect(await atGateway(last)).toBe(200);
});
