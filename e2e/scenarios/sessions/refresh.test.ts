/** Refresh tokens (spec §5, ADR 19): rotation, races of tabs, reuse, origins and cookies, through real processes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import { codeOf, cookieOf, logIn, refresh } from './browser.ts';

let stack: LeasedStack;
/** A bridge whose gateway uses another users process on the same database. */
let otherRest: string;
const credentials = { email: 'ada@example.org', password: 'Ada-passes-1' };

beforeAll(async () => {
  stack = await leaseStack({ env: SPECIAL_SETTINGS });
  await stack.createAccount('Ada');
  const users = await stack.startSubgraph('users');
  const gateway = await stack.startGateway({ SUBGRAPH_URL_USERS: `${users.url}/graphql` });
  otherRest = (await stack.startBridge({ GATEWAY_URL: `${gateway.url}/graphql` })).url;
});
afterAll(() => stack.stop());

const ageUsedTokens = () => stack.sql('users', `UPDATE used_refresh_tokens SET "usedAt" = "usedAt" - interval '10.1 seconds'`);
const meOf = async (token: string) => (await stack.call('GET', '/v1/orders', { token })).status;

describe('a login', () => {
  it('sets a cookie that scripts and other sites cannot read, and stores only the hash of its token', async () => {
    const reply = await stack.call('POST', '/v1/auth/login', { body: credentials });
    expect(reply.headers.get('set-cookie')).toMatch(/^trestle-refresh=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/);
    const secret = cookieOf(reply).replace('trestle-refresh=', '');
    const rows = await stack.sql<{ row: string }>('users', 'SELECT s::text AS row FROM sessions s');
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(secret);
    expect(reply.text).not.toContain(secret);
  });

  it('sets the cookie by GraphQL too', async () => {
    const { headers, data } = await stack.graphql<{ login: { token: string } }>(
      'mutation($email: String!, $password: String!) { login(email: $email, password: $password) { token } }',
      { variables: credentials },
    );
    expect(data?.login.token).toBeDefined();
    const query = 'mutation { refreshSession { token expiresIn user { email } } }';
    const reply = await request(`${stack.gateway}/graphql`, {
      method: 'POST',
      body: { query },
      headers: { cookie: cookieOf({ headers }), origin: stack.gateway },
    });
    expect(reply.body).toMatchObject({ data: { refreshSession: { expiresIn: 900, user: { email: credentials.email } } } });
    expect(cookieOf(reply)).toMatch(/^trestle-refresh=/);
    expect(cookieOf(reply)).not.toBe(cookieOf({ headers }));
  });
});

describe('POST /v1/auth/refresh', () => {
  it('answers 200 with an access token and the next cookie, even with an expired access token in the request', async () => {
    const { cookie } = await logIn(stack.rest, credentials);
    const reply = await stack.call('POST', '/v1/auth/refresh', {
      headers: { cookie, origin: stack.rest, authorization: 'Bearer expired.token.here' },
    });
    expect([reply.status, reply.body]).toEqual([
      200,
      expect.objectContaining({ tokenType: 'Bearer', expiresIn: 900, user: expect.objectContaining({ email: credentials.email }) }),
    ]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(await meOf((reply.body as { accessToken: string }).accessToken)).toBe(200);
    expect((await refresh(stack.rest, cookieOf(reply))).status).toBe(200);
  });

  it.each([
    ['without an origin', {}],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from an opaque origin', { origin: 'null' }],
    ['from an origin that only begins like an allowed one', { origin: 'https://app.example.com.evil.example' }],
  ] as [string, Record<string, string>][])('answers 403 %s, and the cookie stays valid', async (_, headers) => {
    const { cookie } = await logIn(stack.rest, credentials);
    const refused = await refresh(stack.rest, cookie, headers);
    expect([refused.status, codeOf(refused), refused.headers.get('set-cookie')]).toEqual([403, 'FORBIDDEN', null]);
    const byGraphql = await request(`${stack.gateway}/graphql`, {
      method: 'POST',
      body: { query: 'mutation { refreshSession { token } }' },
      headers: { ...headers, cookie },
    });
    expect(byGraphql.text).toContain('"FORBIDDEN"');
    expect((await refresh(stack.rest, cookie)).status).toBe(200);
  });

  it('accepts a listed origin', async () => {
    const { cookie } = await logIn(stack.rest, credentials);
    expect((await refresh(stack.rest, cookie, { origin: SPECIAL_SETTINGS.CORS_ORIGINS })).status).toBe(200);
  });

  it('answers 401 without a cookie, with a foreign value or one of hostile form, and 400 with several cookies', async () => {
    const { cookie } = await logIn(stack.rest, credentials);
    for (const sent of [
      '',
      'trestle-refresh=',
      `trestle-refresh=${'A'.repeat(43)}`,
      `trestle-refresh=${'x'.repeat(7000)}`,
      'trestle-refresh="; DROP',
    ]) {
      const reply = await refresh(stack.rest, sent);
      expect([sent.slice(0, 30), reply.status]).toEqual([sent.slice(0, 30), 401]);
    }
    const tossed = await refresh(stack.rest, `trestle-refresh=${'B'.repeat(43)}; ${cookie}`);
    expect([tossed.status, codeOf(tossed)]).toEqual([400, 'VALIDATION_ERROR']);
    expect((await refresh(stack.rest, cookie)).status).toBe(200);
  });

  it('lets exactly one of many concurrent requests win, over two processes, and never ends the session', async () => {
    let { cookie } = await logIn(stack.rest, credentials);
    for (let round = 0; round < 3; round++) {
      const tabs = Array.from({ length: 6 }, (_, i) => {
        const rest = i % 2 === 0 ? stack.rest : otherRest;
        return refresh(rest, cookie);
      });
      const replies = await Promise.all(tabs);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
      for (const reply of replies.filter(({ status }) => status === 409)) {
        expect([codeOf(reply), reply.headers.get('retry-after'), reply.headers.get('set-cookie')]).toEqual(['CONFLICT', '1', null]);
        expect(reply.text).not.toContain('accessToken');
      }
      cookie = cookieOf(replies.find(({ status }) => status === 200) as (typeof replies)[number]);
    }
    expect((await refresh(otherRest, cookie)).status).toBe(200);
  });

  it('ends the whole session when a token is used again later: its newest cookie and all its access tokens', async () => {
    const { cookie, token } = await logIn(stack.rest, credentials);
    const second = await refresh(stack.rest, cookie);
    const third = await refresh(stack.rest, cookieOf(second));
    expect(third.status).toBe(200);
    await ageUsedTokens();
    const stolen = await refresh(otherRest, cookie);
    expect([stolen.status, codeOf(stolen), stolen.headers.get('set-cookie')]).toEqual([401, 'UNAUTHORIZED', null]);
    expect((await refresh(stack.rest, cookieOf(third))).status).toBe(401);
    const newest = (third.body as { accessToken: string }).accessToken;
    await until(async () => (await meOf(token)) === 401 && (await meOf(newest)) === 401);
    const [event] = await stack.sql('users', `SELECT type FROM security_events WHERE type = 'REFRESH_TOKEN_REUSED'`);
    expect(event).toEqual({ type: 'REFRESH_TOKEN_REUSED' });
  });

  it('answers 401 for an expired session and for an inactive account', async () => {
    const { cookie } = await logIn(stack.rest, credentials);
    await stack.sql('users', `UPDATE sessions SET "expiresAt" = now() - interval '1 second' WHERE "endedAt" IS NULL`);
    expect((await refresh(stack.rest, cookie)).status).toBe(401);
    const again = await logIn(stack.rest, credentials);
    await stack.sql('users', `UPDATE users SET "isActive" = false WHERE email = $1`, [credentials.email]);
    await stack.sql('users', `UPDATE users SET "isActive" = true WHERE email = $1`, [credentials.email]);
    expect((await refresh(stack.rest, again.cookie)).status).toBe(401);
  });
});

describe('POST /v1/auth/logout', () => {
  it('removes the cookie and ends the session', async () => {
    const { cookie, token } = await logIn(stack.rest, credentials);
    const next = await refresh(stack.rest, cookie);
    const reply = await stack.call('POST', '/v1/auth/logout', { token });
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([
      204,
      'trestle-refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    expect(await meOf((next.body as { accessToken: string }).accessToken)).toBe(401);
    expect((await refresh(stack.rest, cookieOf(next))).status).toBe(401);
  });

  it('ends every session with `everywhere`', async () => {
    const [one, two] = [await logIn(stack.rest, credentials), await logIn(stack.rest, credentials)];
    await stack.call('POST', '/v1/auth/logout?everywhere=true', { token: one.token });
    expect(await meOf(two.token)).toBe(401);
    for (const { cookie } of [one, two]) expect((await refresh(stack.rest, cookie)).status).toBe(401);
  });
});
