/** Authentication and authorisation of callers (spec §5, contract §3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let moderator: Account;
let admin: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  bob = await stack.createAccount('Bob');
  moderator = await stack.createAccount('Mod', 'MODERATOR');
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

const forged = () =>
  createTokenIssuer({ privateKeyPem: generateTokenKeys().privateKeyPem }).issue(createTestGrant({ id: ada.id, role: 'ADMIN' })).token;

describe('login', () => {
  it('returns a bearer token that REST and GraphQL accept, and does not say why it fails', async () => {
    const { status, body, headers } = await stack.call('POST', '/v1/auth/login', {
      body: { email: 'ADA@example.org', password: 'Ada-passes-1' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ tokenType: 'Bearer', expiresIn: 900, user: { id: ada.id, email: 'ada@example.org' } });
    expect(headers.get('cache-control')).toBe('no-store');
    const { accessToken } = body as { accessToken: string };
    expect((await stack.graphql('{ me { id email } }', { token: accessToken })).data).toEqual({
      me: { id: ada.id, email: 'ada@example.org' },
    });
    expect((await stack.call('GET', '/v1/orders', { token: accessToken })).status).toBe(200);

    const wrong = await stack.call('POST', '/v1/auth/login', { body: { email: 'ada@example.org', password: 'wrong' } });
    const unknown = await stack.call('POST', '/v1/auth/login', { body: { email: 'nobody@example.org', password: 'wrong' } });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    const message = ({ body: failed }: typeof wrong) => (failed as { error: { message: string } }).error.message;
    expect(message(wrong)).toBe(message(unknown));
  });
});

describe('a credential', () => {
  it('gets 401 with WWW-Authenticate by REST and GraphQL when it is forged, expired or of another scheme', async () => {
    for (const authorization of [`Bearer ${forged()}`, 'Bearer x.y.z', 'Basic YTpi', `Bearer ${ada.token}x`]) {
      const rest = await stack.call('GET', '/v1/users', { headers: { authorization } });
      expect([rest.status, rest.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api", error="invalid_token"']);
      const reply = await fetch(`${stack.gateway}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: '{"query":"{ __typename }"}',
      });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api", error="invalid_token"']);
    }
  });

  it('is verified again by every subgraph', async () => {
    for (const { url } of Object.values(stack.subgraphs)) {
      const reply = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${forged()}` },
        body: '{"query":"{ __typename }"}',
      });
      expect(reply.status).toBe(401);
    }
  });
});

describe('User.email', () => {
  const QUERY = '{ users(pagination: { limit: 4 }) { id email } }';

  it('is masked for others, with one error for the coordinate that counts the masked values', async () => {
    const { data, errors } = await stack.graphql<{ users: { id: string; email: string }[] }>(QUERY, { token: ada.token });
    expect(data?.users.map(({ id, email }) => (id === ada.id ? email : email === '***@masked.invalid'))).toEqual([
      'ada@example.org',
      true,
      true,
      true,
    ]);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', masked: true, coordinate: 'User.email', count: 3 });
  });

  it('is readable by administrators', async () => {
    const { errors } = await stack.graphql(QUERY, { token: admin.token });
    expect(errors).toEqual([]);
  });
});

describe('an e-mail address', () => {
  const connection = '{ totalCount edges { cursor node { id } } }';

  it('of another account cannot be found out by filter, search, sort or cursor, by GraphQL or REST', async () => {
    const page = await stack.graphql<{ usersConnection: { edges: { cursor: string }[] } }>(
      `{ usersConnection(first: 1, orderBy: [{ field: EMAIL }]) ${connection} }`,
      { token: admin.token },
    );
    const cursor = page.data?.usersConnection.edges[0]?.cursor ?? '';
    const guesses = [
      'usersConnection(filter: { email: "bob@example.org" })',
      'usersConnection(filter: { email: "nobody@example.org" })',
      'usersConnection(first: 1, orderBy: [{ field: EMAIL }])',
      'usersConnection(first: 1, orderBy: [{ field: NAME }, { field: EMAIL, direction: DESC }])',
      `usersConnection(first: 1, after: "${cursor}", orderBy: [{ field: EMAIL }])`,
    ];
    // Spec §7.3: 401 is for callers who are not authenticated, 403 for those who are.
    for (const { token, status, code } of [
      { token: undefined, status: 401, code: 'UNAUTHORIZED' },
      { token: ada.token, status: 403, code: 'FORBIDDEN' },
      { token: moderator.token, status: 403, code: 'FORBIDDEN' },
    ]) {
      for (const guess of guesses) {
        const { data, errors } = await stack.graphql<object>(`{ ${guess} ${connection} }`, { token });
        expect([guess, data ?? null, errors[0]?.extensions['code']]).toEqual([guess, null, code]);
      }
      // A cursor is valid for its own order only.
      const foreign = await stack.graphql(`{ usersConnection(first: 1, after: "${cursor}") ${connection} }`, { token });
      expect(foreign.errors[0]?.extensions['code']).toBe('VALIDATION_ERROR');
      const found = await stack.graphql(
        '{ searchUsers(query: "bob@example.org") { id } usersConnection(filter: { search: "bob@" }) { totalCount } }',
        { token },
      );
      expect([found.errors, found.data]).toEqual([[], { searchUsers: [], usersConnection: { totalCount: 0 } }]);
      for (const query of ['email=bob@example.org', 'email=nobody@example.org', 'sort=email', 'sort=-email,name'])
        expect([query, (await stack.call('GET', `/v1/users?${query}`, { token })).status]).toEqual([query, status]);
      expect((await stack.call('GET', '/v1/users?q=bob@example.org', { token })).body).toMatchObject({ data: [] });
      expect((await stack.call('GET', `/v1/users?cursor=${cursor}`, { token })).status).toBe(400);
    }
  });
});

describe('roles and ownership', () => {
  it('let anonymous callers read public data, and answer 401 to requests that need a credential', async () => {
    expect((await stack.graphql('{ users { name } postsConnection { totalCount } productsConnection { totalCount } }')).errors).toEqual([]);
    const denied = await stack.graphql('mutation { createPost(input: { title: "x" }) { id } }');
    expect(denied.status).toBe(401);
    expect(denied.headers.get('www-authenticate')).toBe('Bearer realm="api"');
    expect(denied.errors[0]?.extensions['code']).toBe('UNAUTHORIZED');
    expect((await stack.graphql('{ me { id } }')).data).toEqual({ me: null });
  });

  it('hide a draft from others, let a moderator change it, and let only the author or a moderator delete it', async () => {
    const created = await stack.graphql<{ createPost: { id: string } }>(
      'mutation { createPost(input: { title: "Draft", tags: ["B", "a"] }) { id tags } }',
      { token: ada.token },
    );
    const id = created.data?.createPost.id ?? '';
    const see = async (token?: string) =>
      (await stack.graphql<{ post: { title: string } | null }>('query($id: ID!) { post(id: $id) { title } }', { token, variables: { id } }))
        .data?.post ?? null;
    expect([await see(), await see(bob.token), await see(ada.token), await see(moderator.token)]).toEqual([
      null,
      null,
      { title: 'Draft' },
      { title: 'Draft' },
    ]);

    const publish = await stack.graphql('mutation($id: ID!) { updatePost(id: $id, input: { status: PUBLISHED }) { status } }', {
      token: moderator.token,
      variables: { id },
    });
    expect(publish.data).toEqual({ updatePost: { status: 'PUBLISHED' } });
    const stolen = await stack.graphql('mutation($id: ID!) { deletePost(id: $id) }', { token: bob.token, variables: { id } });
    expect(stolen.errors[0]?.extensions['code']).toBe('FORBIDDEN');
    expect((await stack.graphql('mutation($id: ID!) { deletePost(id: $id) }', { token: ada.token, variables: { id } })).data).toEqual({
      deletePost: true,
    });
    const gone = await stack.graphql('query($id: ID!) { post(id: $id) { title } }', { variables: { id } });
    expect([gone.data, gone.errors[0]?.extensions['code']]).toEqual([{ post: null }, 'GONE']);
    expect((await stack.call('GET', `/v1/posts/${id}`)).status).toBe(410);
  });

  it('let only administrators advance an order', async () => {
    const { errors } = await stack.graphql('mutation { advanceOrder(id: "ord_x", to: PAID) { id } }', { token: ada.token });
    expect(errors[0]?.extensions['code']).toBe('FORBIDDEN');
  });
});
