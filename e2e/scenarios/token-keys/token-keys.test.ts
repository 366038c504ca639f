/** Keys of tokens: published, replaced without a restart, and those of other issuers (spec §5.3, RFC 7517, OpenID Connect Discovery). */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '@trestle/identity/scopes';
import { type TestIssuer, startTestIssuer } from '@trestle/identity/verification/test-issuer';
import { request, until } from '../../stack/clients/client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const ROTATE = fileURLToPath(new URL('../../../subgraphs/users/dist/keys/main.js', import.meta.url));
const PASSWORD = 'Ada-passes-1';

let home: string;
let provider: TestIssuer;
let stack: Stack;
let ada: Account;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-e2e-'));
  provider = await startTestIssuer();
  const file = join(home, 'issuers.json');
  const scopes = { claim: 'scope', map: { all: SCOPES.filter((scope) => scope !== 'account:manage') } };
  const roles = { claim: 'groups', map: { boss: 'ADMIN' }, default: 'USER' };
  await writeFile(file, JSON.stringify({ issuers: [{ name: 'acme', issuer: provider.issuer, audience: 'trestle-api', roles, scopes }] }));
  stack = await startStack({ env: { TRUSTED_ISSUERS_FILE: file } });
  ada = await stack.createAccount('Ada');
});
afterAll(async () => {
  await stack.stop();
  await provider.close();
  await rm(home, { recursive: true, force: true });
});

const ask = (url: string, token: string) => request(`${url}/graphql`, { method: 'POST', body: { query: '{ __typename }' }, token });
/** The status for a token at every process that verifies it. */
async function statuses(token: string): Promise<number[]> {
  const graphql = [stack.gateway, stack.subgraphs.users.url, stack.subgraphs.orders.url, stack.subgraphs.content.url];
  const replies = await Promise.all([...graphql.map((url) => ask(url, token)), stack.call('GET', '/v1/orders', { token })]);
  return replies.map(({ status }) => status);
}
const ACCEPTED = [200, 200, 200, 200, 200];
const REFUSED = [401, 401, 401, 401, 401];
const subscribe = (token: string) => subscribeTo(stack.gateway, { query: '{ __typename }', token }).end();
const rotate = (delay: string, ...flags: string[]) =>
  promisify(execFile)(process.execPath, [ROTATE, '--delay', delay, ...flags], { env: { ...process.env, ...stack.keyFiles } });

async function logIn(): Promise<string> {
  const { body } = await stack.call('POST', '/v1/auth/login', { body: { email: 'ada@example.org', password: PASSWORD } });
  return (body as { accessToken: string }).accessToken;
}
const kidOf = (token: string) => (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;

async function readPublishedKeys() {
  const { status, body, headers } = await stack.call('GET', '/.well-known/jwks.json', { token: 'ignored' });
  expect(status).toBe(200);
  return { kids: (body as { keys: { kid: string }[] }).keys.map(({ kid }) => kid), headers, body };
}

/** Waits until the bridge publishes the keys of these tokens and no others. It reads the file by itself, so it can be later than those that verify. */
const untilPublished = (tokens: readonly string[]) =>
  until(async () => (await readPublishedKeys()).kids.join() === tokens.map(kidOf).join());

describe('GET /.well-known/jwks.json', () => {
  it('returns the public keys, with an ETag and for caches', async () => {
    const { body, kids, headers } = await readPublishedKeys();
    expect(kids).toEqual([kidOf(await logIn())]);
    expect(body).toEqual({
      keys: [{ kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String), use: 'sig', alg: 'ES256', kid: kids[0] }],
    });
    expect(headers.get('cache-control')).toContain('public, max-age=60');
    expect((await stack.call('GET', '/.well-known/jwks.json', { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status).toBe(
      304,
    );
  });
});

describe('npm run keys:rotate', () => {
  it('replaces the key of running processes, which accept tokens of the old and the new key all the time', async () => {
    const old = await logIn();
    expect(await statuses(old)).toEqual(ACCEPTED);
    const rotation = { isRunning: true };
    const rotating = rotate('2').finally(() => (rotation.isRunning = false));
    while (rotation.isRunning) expect(await statuses(await logIn())).toEqual(ACCEPTED);
    const { stdout } = await rotating;
    let token = '';
    await until(async () => kidOf((token = await logIn())) !== kidOf(old));
    expect(stdout).toContain(kidOf(token));
    expect(await statuses(token)).toEqual(ACCEPTED);
    expect(await statuses(old)).toEqual(ACCEPTED);
    await untilPublished([token, old]);
    expect((await stat(stack.keyFiles.TOKEN_PRIVATE_KEY_FILE)).mode & 0o077).toBe(0);
  });

  it('is followed by verifiers that load the keys from a URL, such as that of the bridge', async () => {
    const gateway = await stack.startGateway({ TOKEN_PUBLIC_KEY_FILE: '', TOKEN_JWKS_URL: `${stack.rest}/.well-known/jwks.json` });
    expect((await ask(gateway.url, await logIn())).status).toBe(200);
    const before = kidOf(await logIn());
    await rotate('2');
    let token = '';
    await until(async () => kidOf((token = await logIn())) !== before);
    await until(async () => (await ask(gateway.url, token)).status === 200);
  });

  it('with --revoke-old ends the tokens of all older keys, and the sockets that were opened with them', async () => {
    const old = await logIn();
    const socket = subscribeTo(stack.gateway, { query: 'subscription { eventAdded { id } }', resume: {}, token: old });
    await socket.wait(1);
    const { stdout } = await rotate('2', '--revoke-old');
    expect(stdout).toContain(`Removed the key ${kidOf(old)}: its tokens are refused.`);
    await until(async () => (await statuses(old)).join() === REFUSED.join());
    expect(await socket.end()).toEqual({ close: 4403 });
    let token = '';
    await until(async () => kidOf((token = await logIn())) !== kidOf(old));
    expect(await statuses(token)).toEqual(ACCEPTED);
    await untilPublished([token]);
  });

  it('refuses to run twice at the same time', async () => {
    const results = await Promise.allSettled([rotate('2'), rotate('2')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect((failed.reason as { stderr: string }).stderr).toContain('Another rotation runs');
  });
});

describe('a token of another issuer', () => {
  it('is accepted at the bridge, the gateway, its sockets and the subgraphs, as a caller that is no account of ours', async () => {
    const token = await provider.sign({ sub: ada.id, scope: 'all' });
    expect(await statuses(token)).toEqual(ACCEPTED);
    expect(await subscribe(token)).toEqual({});
    expect(await stack.graphql('{ me { id } }', { token })).toMatchObject({ status: 200, data: { me: null } });
    const { errors } = await stack.graphql(`mutation { updateUser(id: "${ada.id}", input: { name: "Eve" }) { id } }`, { token });
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
  });

  it('has the role that its claims map to', async () => {
    const query = `{ user(id: "${ada.id}") { email } }`;
    const admin = await stack.graphql(query, { token: await provider.sign({ groups: ['boss'], scope: 'all' }) });
    expect(admin.data).toEqual({ user: { email: 'ada@example.org' } });
    const user = await stack.graphql(query, { token: await provider.sign({ groups: ['other'], scope: 'all' }) });
    expect(user.data).toEqual({ user: { email: '***@masked.invalid' } });
  });

  it.each([
    ['another audience', () => provider.sign({ aud: 'other' })],
    ['a lifetime of ten years', () => provider.sign({ exp: Math.floor(Date.now() / 1000) + 315_360_000 })],
    ['no jti', () => provider.sign({ jti: undefined as never })],
    ['our name as its issuer', () => provider.sign({ iss: 'trestle', role: 'ADMIN', gen: 0 })],
    ['the key id of ours', async () => provider.sign({}, { kid: kidOf(await logIn()) })],
    ['another type', () => provider.sign({}, { typ: 'JWT' })],
  ])('is refused everywhere with %s', async (_, sign) => {
    const token = await sign();
    expect(await statuses(token)).toEqual(REFUSED);
    expect(await subscribe(token)).toEqual({ close: 4403 });
  });

  it('is refused everywhere once it is logged out', async () => {
    const token = await provider.sign({ scope: 'all' });
    expect(await statuses(token)).toEqual(ACCEPTED);
    expect(await stack.graphql('mutation { logout }', { token })).toMatchObject({ data: { logout: true } });
    expect(await statuses(token)).toEqual(REFUSED);
  });
});
