/** Guesses of passwords at every transport (issue 13, ADR 20): bounded, and the same for accounts that do not exist. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Reply, request } from '../../stack/clients/client.ts';
import { type Stack, startStack } from '../../stack/stack.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

let stack: Stack;
const ADA = { email: 'ada@example.org', password: 'Ada-passes-1' };
const NOBODY = { email: 'nobody@example.org', password: 'Nobody-passes-1' };
const LOGIN = 'mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }';

beforeAll(async () => {
  stack = await startStack({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  await stack.createAccount('Ada');
});
afterAll(() => stack.stop());
beforeEach(() => stack.sql('users', 'DELETE FROM failed_attempts'));

let addresses = 0;
/** Each call returns the address of another network, as a trusted proxy passes it on. */
const nextNetwork = () => `198.51.${String(++addresses)}.7`;
const wrong = ({ email }: { email: string }) => ({ email, password: 'not the password' });
const logIn = (body: object, address = nextNetwork()) =>
  stack.call('POST', '/v1/auth/login', { body, headers: { 'x-forwarded-for': address } });
const byGraphql = async (variables: object, query = LOGIN): Promise<unknown[]> => {
  const headers = { 'x-forwarded-for': nextNetwork() };
  const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', body: { query, variables }, headers });
  return codesOf(body);
};
const bySocket = async (variables: Record<string, unknown>): Promise<unknown[]> => {
  const subscriber = subscribeTo(stack.gateway, { query: LOGIN, variables, headers: { 'x-forwarded-for': nextNetwork() } });
  await subscriber.end();
  return codesOf(subscriber.results[0]);
};
const codesOf = (body: unknown) =>
  ((body as { errors?: { extensions: { code: string } }[] }).errors ?? []).map(({ extensions }) => extensions.code);
/** Begins or ends the delays that run, as if time had passed. */
const setDelays = (seconds: number) =>
  stack.sql('users', `UPDATE failed_attempts SET "blockedUntil" = clock_timestamp() + make_interval(secs => $1)`, [seconds]);
const failTimes = async (times: number, credentials: typeof ADA) => {
  const replies: Reply[] = [];
  for (let i = 0; i < times; i++) replies.push(await logIn(wrong(credentials)));
  return replies;
};

describe('a burst of parallel guesses at one account', () => {
  it.each([
    ['that exists', ADA],
    ['that does not exist', NOBODY],
  ])('checks ten passwords by REST, GraphQL and WebSocket together, and refuses the others: an account %s', async (_, credentials) => {
    const codes = await Promise.all(
      Array.from({ length: 36 }, async (__, i) => {
        if (i % 3 === 0) return byGraphql(wrong(credentials));
        if (i % 3 === 1) return bySocket(wrong(credentials));
        return [((await logIn(wrong(credentials))).body as { error: { code: string } }).error.code];
      }),
    );
    const checked = codes.flat().filter((code) => code === 'UNAUTHORIZED').length;
    // A busy machine may take so long that the first delay, of one second, ends meanwhile, or that requests do not begin in time.
    const expected = ['UNAUTHORIZED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'];
    expect(codes.flat().filter((code) => !expected.includes(String(code)))).toEqual([]);
    expect(checked).toBeGreaterThanOrEqual(10);
    expect(checked).toBeLessThanOrEqual(12);
  });

  it('counts each login of a document that has many under aliases, of which the first failure ends the document', async () => {
    const aliased = Array.from({ length: 5 }, (_, i) => `a${String(i)}: login(email: $email, password: $password) { token }`);
    const query = `mutation Many($email: String!, $password: String!) { ${aliased.join(' ')} }`;
    const failures = async () =>
      (await stack.sql<{ failures: number }>('users', 'SELECT max(failures) AS failures FROM failed_attempts'))[0];
    for (let documents = 1; documents <= 10; documents++) {
      expect(await byGraphql(wrong(ADA), query)).toContain('UNAUTHORIZED');
      expect(await failures()).toEqual({ failures: documents });
    }
    await setDelays(100);
    expect(await byGraphql(ADA)).toEqual(['RATE_LIMIT_EXCEEDED']);
  });
});

describe('a delayed account', () => {
  it('refuses the right password too, with the same response as for an account that does not exist, and accepts it afterwards', async () => {
    const [known, unknown] = [await failTimes(10, ADA), await failTimes(10, NOBODY)];
    await setDelays(100);
    known.push(await logIn(ADA));
    unknown.push(await logIn(NOBODY));
    expect(known.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    /** What a client sees, but for what differs between any two responses. */
    const visible = ({ status, headers, body }: Reply) => {
      const { code, details, limit, remaining, ...others } = (body as { error: Record<string, unknown> }).error;
      return { status, headers: [...headers.keys()].sort(), error: { code, details, limit, remaining }, others: Object.keys(others) };
    };
    expect(known.map(visible)).toEqual(unknown.map(visible));
    const refused = known.at(-1) as Reply;
    expect(refused.body).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED', limit: 10, remaining: 0 } });
    expect(refused.headers.get('retry-after')).toMatch(/^(?:100|9\d)$/);
    expect(await byGraphql(ADA)).toEqual(['RATE_LIMIT_EXCEEDED']);
    expect(await bySocket(ADA)).toEqual(['RATE_LIMIT_EXCEEDED']);
    await setDelays(0);
    expect((await logIn(ADA)).status).toBe(200);
    expect((await logIn(wrong(ADA))).status).toBe(401);
    expect((await logIn(ADA)).status).toBe(200);
  });

  it('is delayed in every process of users, and whatever the case of its e-mail address', async () => {
    const { url } = await stack.startSubgraph('users');
    for (let i = 0; i < 10; i++) {
      const process = i % 2 === 0 ? url : stack.subgraphs.users.url;
      await request(`${process}/graphql`, { method: 'POST', body: { query: LOGIN, variables: wrong({ email: 'aDA@example.ORG' }) } });
    }
    await setDelays(100);
    expect((await logIn(ADA)).status).toBe(429);
  });

  it('appears in the audit trail with each failure and the beginning of the delay', async () => {
    const { id } = await stack.createAccount('Audited');
    const audited = { email: 'audited@example.org', password: 'Audited-passes-1' };
    await failTimes(10, audited);
    await setDelays(100);
    await logIn(audited);
    const events = await stack.sql<{ type: string }>(
      'users',
      'SELECT type, detail, address, count(*)::int FROM security_events WHERE "userId" = $1 GROUP BY 1, 2, 3 ORDER BY 1',
      [id],
    );
    expect(events).toContainEqual({
      type: 'LOGIN_DELAYED',
      detail: 'login: 1 s',
      address: expect.stringMatching(/^198\.51\.\d+\.0\/24$/),
      count: 1,
    });
    expect(events.filter(({ type }) => type === 'LOGIN_FAILED')).toHaveLength(10);
  });
});

describe('a network', () => {
  it.each([
    ['IPv4', '203.0.113.9', '203.0.113.9', '203.0.113.10'],
    ['IPv6, by /64', '2001:db8:1:2::3', '2001:db8:1:2:ffff::4', '2001:db8:1:3::3'],
  ])('is delayed after fifty failures at any accounts, and others are not: %s', async (_, address, same, other) => {
    for (let i = 0; i < 50; i++) {
      const { status } = await logIn({ email: `person${String(i)}@example.org`, password: 'x' }, address);
      expect([i, status]).toEqual([i, 401]);
    }
    await setDelays(30);
    const refused = await logIn(ADA, same);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 20]).toEqual([429, true]);
    expect((await logIn(ADA, other)).status).toBe(200);
  });
});

describe('the time of a failed login', () => {
  it('is about the same for accounts that exist and that do not', async () => {
    const timesOf = { known: [] as number[], unknown: [] as number[] };
    for (let i = 0; i < 9; i++) {
      for (const [kind, credentials] of [
        ['known', ADA],
        ['unknown', NOBODY],
      ] as const) {
        const startedAt = performance.now();
        expect((await logIn(wrong(credentials))).status).toBe(401);
        timesOf[kind].push(performance.now() - startedAt);
      }
    }
    const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
    const ratio = median(timesOf.known) / median(timesOf.unknown);
    expect(ratio).toBeGreaterThan(1 / 3);
    expect(ratio).toBeLessThan(3);
  });
});
