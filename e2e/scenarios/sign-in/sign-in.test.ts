/** Signing in while an invalid credential is still sent along: by REST and by GraphQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const credentials = { email: 'ada@example.org', password: 'Ada-passes-1' };
const INVALID = ['Bearer expired.token.here', 'Basic YTpi', 'nonsense'];

describe('POST /v1/auth/login', () => {
  // RFC 9110 §11.6.2: which credentials a request needs is the route's own business; a client that signs in has no valid one yet.
  it.each(INVALID)('signs in with any value of Authorization: %s', async (authorization) => {
    const reply = await stack.call('POST', '/v1/auth/login', { body: credentials, headers: { authorization } });
    expect([reply.status, (reply.body as { user?: { id: string } }).user?.id]).toEqual([200, ada.id]);
  });
});

describe.each(['/v1/auth/login', '/v1/auth/refresh', '/.well-known/jwks.json'])('%s, which ignores credentials', (path) => {
  // Contract §4: exactly one credential for each request, else 400.
  it.each([
    ['Authorization and X-API-Key', { authorization: 'Bearer x', 'x-api-key': 'x' }],
    ['two in X-API-Key and the URL', { 'x-api-key': 'x' }, '?apiKey=x'],
  ])('answers 400 to two: %s', async (_, headers, search = '') => {
    const method = path.startsWith('/v1') ? 'POST' : 'GET';
    const reply = await stack.call(method, `${path}${search}`, { headers, ...(method === 'POST' && { body: credentials }) });
    expect([reply.status, reply.body]).toMatchObject([400, { error: { code: 'VALIDATION_ERROR' } }]);
  });
});

describe('a GraphQL request with an invalid credential', () => {
  const post = async (query: string, authorization: string, operationName?: string) => {
    const { status, body } = await request(`${stack.gateway}/graphql`, {
      method: 'POST',
      headers: { authorization },
      body: { query, operationName, variables: credentials },
    });
    return { status, ...(body as { data?: unknown; errors?: { extensions: { code: string } }[] }) };
  };
  const LOGIN = 'mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { user { id } } }';

  it.each(INVALID)('signs in when its operation does only that: %s', async (authorization) => {
    expect(await post(LOGIN, authorization)).toMatchObject({ status: 200, data: { login: { user: { id: ada.id } } } });
    expect(await post(`${LOGIN} query Other { me { id } }`, authorization, 'Login')).toMatchObject({
      data: { login: { user: { id: ada.id } } },
    });
  });

  it.each([
    ['{ me { id } }'],
    ['{ products: productsConnection { totalCount } }'],
    ['mutation { login: deleteUser(id: "usr_x") }'],
    ['mutation { login(email: "a", password: "b") { token } deleteUser(id: "usr_x") }'],
    ['mutation { ...F } fragment F on Mutation { login(email: "a", password: "b") { token } }'],
    ['query { login }'],
    ['mutation {'],
    [`mutation { ${'login(email: "a", password: "b") { token } '.repeat(100)} }`],
    [`${LOGIN} query Other { me { id } }`],
  ])('gets 401 for any other operation: %s', async (query) => {
    expect(await post(query, 'Bearer expired.token.here')).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHORIZED' } }],
    });
  });

  it('gets 401 by GET for any operation', async () => {
    const url = `${stack.gateway}/graphql?query=${encodeURIComponent('{ __typename }')}`;
    expect((await request(url, { method: 'GET', headers: { authorization: 'Bearer x' } })).status).toBe(401);
  });
});

// A credential in `connection_init` belongs to the connection, before any operation is known: only requests over HTTP can ignore it for a login.
describe('a WebSocket', () => {
  const LOGIN = `mutation { login(email: "${credentials.email}", password: "${credentials.password}") { user { id } } }`;

  it('signs in when it has no credential', async () => {
    const client = await openSocket(`${stack.gateway}/graphql`);
    client.send({ id: 'login', type: 'subscribe', payload: { query: LOGIN } });
    expect(await client.next(({ type }) => type === 'next')).toMatchObject({ payload: { data: { login: { user: { id: ada.id } } } } });
    await client.close();
  });

  it.each(INVALID)('is closed with 4403 for an invalid credential, before a login is executed: %s', async (authorization) => {
    const client = await openSocket(`${stack.gateway}/graphql`, { init: null });
    client.send({ type: 'connection_init', payload: { authorization } });
    client.send({ id: 'login', type: 'subscribe', payload: { query: LOGIN } });
    expect(await client.closed).toMatchObject({ code: 4403 });
    expect(client.waiting.filter(({ type }) => type === 'next')).toEqual([]);
  });
});
