/** Access tokens in a header or a cookie that the configuration names, sent to a gateway over HTTP and WebSockets. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestIssuer, startTestIssuer } from '@trestle/identity/verification/test-issuer';
import { WebSocket } from 'ws';
import { readMetric, request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const PAGE = 'https://app.example.com';
const SUBGRAPH = {
  only: {
    sdl: 'type Query { open: Int, closed: Int @authenticated } type Mutation { change: Int @authenticated } type Subscription { n: Int @authenticated }',
    resolvers: { Query: { open: () => 1, closed: () => 2 }, Mutation: { change: () => 3 } },
  },
};

let folder: string;
let issuer: TestIssuer;
let federation: Federation;
let [token, other] = ['', ''];
beforeAll(async () => {
  issuer = await startTestIssuer();
  [token, other] = [await issuer.sign(), await issuer.sign({ sub: 'alice' })];
  folder = await mkdtemp(join(tmpdir(), 'trestle-sources-'));
  const issuers = join(folder, 'issuers.json');
  await writeFile(issuers, JSON.stringify({ issuers: [{ name: 'acme', issuer: issuer.issuer, audience: 'trestle-api' }] }));
  const file = join(folder, 'trestle.yaml');
  await writeFile(
    file,
    `authentication: { enabled: true, trustedIssuersFile: ${issuers}, tokenSources: ['header:X-Token:Token', 'cookie:session'] }\nserver: { corsOrigins: ['${PAGE}'] }\nheaders: { response: [{ propagate: Cache-Control }] }\n`,
  );
  federation = await startFederation(SUBGRAPH, { args: ['--config', file, '--auth', 'on'], env: { LOG_LEVEL: 'debug' } });
});
afterAll(async () => {
  await federation.stop();
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
});

const ask = (headers: Record<string, string>) => federation.ask('{ closed }', {}, headers);
const get = (headers: Record<string, string>) =>
  request(`${federation.url}?query=${encodeURIComponent('{ closed }')}`, { method: 'GET', headers });
const DATA = { data: { closed: 2 } };

describe('a gateway with sources of tokens', () => {
  it('accepts a token in the header, behind its prefix, and in the cookie, and sends it to subgraphs as Authorization only', async () => {
    const before = await readMetric(federation.gateway.url, 'trestle_lean_requests_total');
    for (const headers of [{ 'x-token': `Token ${token}` }, { cookie: `a=b; session=${token}` }]) {
      expect((await ask(headers)).body).toEqual(DATA);
      const received = federation.received.at(-1)?.headers;
      expect(received).toMatchObject({ authorization: `Bearer ${token}` });
      expect([received?.cookie, received?.['x-token']]).toEqual([undefined, undefined]);
    }
    // The lean reader reads these requests too.
    expect(await readMetric(federation.gateway.url, 'trestle_lean_requests_total')).toBeGreaterThan(before);
  });

  it('takes the first source of several that differ, also when it is invalid', async () => {
    await ask({ authorization: `Bearer ${other}`, 'x-token': `Token ${token}`, cookie: `session=${token}` });
    expect(federation.received.at(-1)?.headers.authorization).toBe(`Bearer ${other}`);
    await ask({ 'x-token': `Token ${other}`, cookie: `session=${token}` });
    expect(federation.received.at(-1)?.headers.authorization).toBe(`Bearer ${other}`);
    expect((await ask({ 'x-token': token, cookie: `session=${token}` })).status).toBe(401);
    expect((await ask({ cookie: `session=${token}x` })).status).toBe(401);
  });

  it('serves a request with other cookies, or an empty one, as one of an anonymous client', async () => {
    for (const cookie of ['a=b', 'session=', `a-session=${token}`])
      expect((await ask({ cookie })).body.errors?.[0]?.extensions['code']).toBe('UNAUTHORIZED');
    expect((await federation.ask('{ open }', {}, { cookie: 'a=b' })).body).toEqual({ data: { open: 1 } });
  });

  it('refuses what pages of other sites could have a browser send with the cookie, before a subgraph is asked', async () => {
    const cookie = `session=${token}`;
    const asked = federation.received.length;
    expect(await get({ cookie })).toMatchObject({ status: 403 });
    expect(await get({ cookie, accept: 'text/event-stream' })).toMatchObject({ status: 403 });
    expect(await get({ cookie, origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await ask({ cookie, origin: 'null' })).toMatchObject({ status: 403 });
    const body = '{"query":"mutation { change }"}';
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])
      expect(await request(federation.url, { method: 'POST', headers: { cookie, 'content-type': type }, body })).toMatchObject({
        status: 403,
      });
    expect(federation.received).toHaveLength(asked);
  });

  it('accepts the cookie with a header that needs a preflight request, and from pages of allowed origins', async () => {
    const cookie = `session=${token}`;
    for (const headers of [{ 'apollo-require-preflight': '1' }, { origin: PAGE }, { 'sec-fetch-site': 'same-origin' }])
      expect((await get({ cookie, ...headers })).body).toEqual(DATA);
  });

  it('names these headers in Vary, so that a cache does not serve the response to one caller to another', async () => {
    federation.intercept = (_, __, response) => {
      response.setHeader('cache-control', 'public, max-age=60');
      return undefined;
    };
    const url = `${federation.url}?query=${encodeURIComponent('{ open }')}`;
    const [anonymous, named] = await Promise.all(
      [{}, { 'x-token': `Token ${token}` }].map(async (headers) => (await request(url, { method: 'GET', headers })).headers),
    );
    federation.intercept = undefined;
    expect([anonymous, named].map((headers) => headers?.get('cache-control'))).toEqual(['public, max-age=60', 'private, max-age=60']);
    for (const headers of [anonymous, named])
      expect(headers?.get('vary')?.split(', ')).toEqual(expect.arrayContaining(['x-token', 'cookie']));
  });

  const open = async (headers: Record<string, string>, payload: object = {}) => {
    const socket = new WebSocket(federation.url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
    try {
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      return await Promise.race([
        once(socket, 'message').then(([data]) => String(data as Buffer)),
        once(socket, 'close').then(([code]) => String(code as number)),
      ]);
    } catch (error) {
      return (error as Error).message;
    } finally {
      socket.terminate();
    }
  };

  it('accepts the cookie of a WebSocket with an allowed origin only', async () => {
    const cookie = `session=${token}`;
    expect(await open({ cookie, origin: PAGE })).toContain('connection_ack');
    expect(await open({ cookie, origin: federation.gateway.url })).toContain('connection_ack');
    expect(await open({ cookie, origin: 'https://evil.example' })).toContain('403');
    expect(await open({ cookie })).toBe('4403');
    expect(await open({ cookie: 'session=x', origin: PAGE })).toBe('4403');
    expect(await open({ cookie }, { Authorization: `Bearer ${other}` })).toContain('connection_ack');
    expect(await open({}, { 'X-Token': `Token ${token}` })).toContain('connection_ack');
  });

  it('writes no token to the log', () => {
    const signature = token.split('.')[2] ?? '';
    expect(federation.gateway.lines.join('\n')).not.toContain(signature);
  });
});
