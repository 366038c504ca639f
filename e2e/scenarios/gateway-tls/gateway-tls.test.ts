/** HTTPS at the gateway and the bridge: HTTP/1.1 and HTTP/2 on one port, and the redirect of plain HTTP (contract §4). */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { startProcess } from '../../stack/processes/process.ts';
import {
  type Certificate,
  type TlsRequest,
  askHttps,
  beginHttp2,
  createCertificate,
  openHttp2,
  readHttp2,
} from '../../stack/clients/tls-client.ts';

const HSTS = 'max-age=31536000; includeSubDomains';
const subgraphs = {
  echo: {
    sdl: 'type Query { echo(text: String!): String } type Mutation { note: String }',
    resolvers: { Query: { echo: (_: unknown, { text }: { text: string }) => text }, Mutation: { note: () => 'noted' } },
  },
};
const ask = (text: string, headers: Record<string, string> = {}): TlsRequest => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ query: 'query($text: String!) { echo(text: $text) }', variables: { text } }),
});
const toAnswer = (text: string) => JSON.stringify({ data: { echo: text } });

let home: string;
let certificate: Certificate;
let env: Record<string, string>;
let federation: Federation;
const start = (own: Record<string, string> = {}) => startFederation(subgraphs, { env: { ...env, ...own }, args: ['--auth', 'on'] });
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-tls-'));
  certificate = await createCertificate(home);
  const publicKeyFile = join(home, 'public.pem');
  await writeFile(publicKeyFile, generateTokenKeys().publicKeyPem);
  env = { ...certificate.settings, TOKEN_PUBLIC_KEY_FILE: publicKeyFile };
  federation = await start();
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

/** One request on a session of its own. */
async function once2(asked: TlsRequest) {
  const session = openHttp2(certificate, federation.gateway.port);
  try {
    return await readHttp2(beginHttp2(session, asked));
  } finally {
    session.close();
  }
}
const clients = [
  ['HTTP/1.1', (asked: TlsRequest) => askHttps(certificate, federation.gateway.port, asked)],
  ['HTTP/2', once2],
] as const;

describe.each(clients)('the gateway by %s', (_, send) => {
  const codeOf = (text: string) => (JSON.parse(text) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code;

  it('serves operations, probes and GraphiQL, each with HSTS', async () => {
    const text = 'x'.repeat(20_000);
    const answered = await send(ask(text));
    expect([answered.status, answered.text]).toEqual([200, toAnswer(text)]);
    expect(answered.headers).toMatchObject({
      'strict-transport-security': HSTS,
      'content-type': expect.stringContaining('json') as unknown,
    });
    expect(await send({ path: '/readyz' })).toMatchObject({ status: 200, headers: { 'strict-transport-security': HSTS } });
    expect((await send({ path: '/graphql', headers: { accept: 'text/html' } })).text).toContain('<title>GraphiQL</title>');
    expect((await send({ path: '/graphql?query=%7B%20echo(text%3A%20%22a%22)%20%7D' })).text).toBe(toAnswer('a'));
    expect((await send({ method: 'HEAD', path: '/livez' })).text).toBe('');
    const small = await send(ask('x'.repeat(5000), { 'accept-encoding': 'gzip' }));
    expect([small.headers['content-encoding'], small.text.length < 1000]).toEqual(['gzip', true]);
  });

  it.each([
    ['a body that is too large', { ...ask('x'.repeat(1024 * 1024)) }, 413, 'PAYLOAD_TOO_LARGE'],
    ['headers that are too large', { path: '/graphql', headers: { 'x-a': 'a'.repeat(17_000) } }, 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
    ['two credentials', ask('a', { authorization: 'Bearer a', 'x-api-key': 'b' }), 400, 'VALIDATION_ERROR'],
    ['a bad credential', ask('a', { authorization: 'Bearer a' }), 401, 'UNAUTHORIZED'],
    ['no JSON', { ...ask('a'), body: '{' }, 400, 'VALIDATION_ERROR'],
    ['another type', ask('a', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['another method', { path: '/graphql', method: 'DELETE' }, 405, 'METHOD_NOT_ALLOWED'],
    ['another path', { path: '/' }, 404, 'NOT_FOUND'],
    ['an expectation', { path: '/graphql', headers: { expect: 'tea' } }, 400, 'VALIDATION_ERROR'],
  ] as [string, TlsRequest, number, string][])('%s is refused', async (__, asked, status, code) => {
    const answered = await send(asked);
    expect([answered.status, codeOf(answered.text)]).toEqual([status, code]);
    expect(answered.headers).toMatchObject({ 'strict-transport-security': HSTS, 'x-request-id': expect.any(String) as unknown });
  });
});

describe('HTTP/2', () => {
  it('carries many requests at once on one connection', async () => {
    const session = openHttp2(certificate, federation.gateway.port);
    const texts = Array.from({ length: 200 }, (_, i) => `text ${String(i)}`);
    const answers = await Promise.all(texts.map((text) => readHttp2(beginHttp2(session, ask(text)))));
    expect(answers.map(({ text }) => text)).toEqual(texts.map(toAnswer));
    session.close();
  });

  it.each([
    ['an unknown method', { method: 'BREW', path: '/graphql' }, 501],
    ['a method in lower case', { method: 'get', path: '/graphql' }, 501],
    ['two hosts', { path: '/graphql', headers: { ':authority': 'a', host: 'b' } }, 400],
  ])('rejects %s', async (_, asked, status) => {
    expect((await once2(asked as TlsRequest)).status).toBe(status);
  });

  it('rejects a host that is none', async () => {
    // Newer versions of Node.js refuse the stream themselves (RFC 9113 §8.1.1).
    const answer = once2({ path: '/graphql', headers: { ':authority': 'b@c' } }).then(({ status }) => status);
    expect([400, 'Stream closed with error code NGHTTP2_PROTOCOL_ERROR']).toContain(
      await answer.catch((error: unknown) => (error as Error).message),
    );
  });

  it('ends the fetches of a request that is cancelled, and serves the others on that connection', async () => {
    let cut = false;
    federation.intercept = ({ variables }, incoming) => {
      if (variables['text'] !== 'held') return undefined;
      incoming.socket.once('close', () => (cut = true));
      return new Promise(() => undefined);
    };
    const before = federation.received.length;
    const session = openHttp2(certificate, federation.gateway.port);
    const held = beginHttp2(session, ask('held'));
    held.on('error', () => undefined);
    await until(() => Promise.resolve(federation.received.length > before));
    held.close(constants.NGHTTP2_CANCEL);
    await until(() => Promise.resolve(cut));
    expect((await readHttp2(beginHttp2(session, ask('b')))).text).toBe(toAnswer('b'));
    session.close();
    federation.intercept = undefined;
  });

  it('sends GOAWAY when the gateway stops, which ends within 3 s after the response to the request in flight', async () => {
    const own = await start();
    let release: () => void = () => undefined;
    own.intercept = () => new Promise<void>((resolve) => (release = resolve));
    const session = openHttp2(certificate, own.gateway.port);
    const goodbye = once(session, 'goaway');
    const answer = readHttp2(beginHttp2(session, ask('a')));
    const idle = openHttp2(certificate, own.gateway.port);
    await Promise.all([until(() => Promise.resolve(own.received.length > 0)), once(idle, 'connect')]);
    const began = performance.now();
    const ended = own.gateway.end('SIGTERM');
    await goodbye;
    release();
    expect((await answer).text).toBe(toAnswer('a'));
    await ended;
    expect(performance.now() - began).toBeLessThan(3000);
    await own.stop();
  });

  it('does not keep the gateway from ending within 3 s when a subgraph never answers', async () => {
    // By default it would wait for 2.5 s (gateway/src/config.test.ts): a busy machine needs what is left.
    const own = await start({ SUBSCRIPTION_DRAIN_MS: '0', REQUEST_DRAIN_MS: '200' });
    own.intercept = () => new Promise(() => undefined);
    const session = openHttp2(certificate, own.gateway.port);
    beginHttp2(session, ask('a')).on('error', () => undefined);
    await until(() => Promise.resolve(own.received.length > 0));
    const began = performance.now();
    await own.gateway.end('SIGTERM');
    expect(performance.now() - began).toBeLessThan(3000);
    await own.stop();
  });
});

describe('plain HTTP on the same port', () => {
  it('is redirected to HTTPS with method, path and query, and without HSTS', async () => {
    const origin = `localhost:${String(federation.gateway.port)}`;
    for (const method of ['GET', 'POST']) {
      const reply = await fetch(`http://${origin}/graphql?a=b`, { method, redirect: 'manual' });
      expect([reply.status, reply.headers.get('location')]).toEqual([308, `https://${origin}/graphql?a=b`]);
      expect(reply.headers.get('strict-transport-security')).toBeNull();
    }
  });

  it('serves the probes of the machine itself', async () => {
    expect((await fetch(`${federation.gateway.url}/readyz`, { redirect: 'manual' })).status).toBe(200);
  });
});

describe('TLS settings', () => {
  const args = ['--port', '0', '--auth', 'off'];
  it('end the command with a reason when certificate or key is missing or they do not match', async () => {
    const { TLS_CERT_FILE, TLS_KEY_FILE } = certificate.settings;
    await expect(startGateway(args, { TLS_CERT_FILE })).rejects.toThrow(/TLS_KEY_FILE: is required/);
    await expect(startGateway(args, { TLS_KEY_FILE })).rejects.toThrow(/TLS_CERT_FILE: is required/);
    await expect(startGateway(args, { TLS_CERT_FILE, TLS_KEY_FILE: TLS_CERT_FILE })).rejects.toThrow(
      /must name a certificate and its private key/,
    );
    await expect(startGateway(args, { TLS_CERT_FILE: join(home, 'none'), TLS_KEY_FILE })).rejects.toThrow(/TLS_CERT_FILE: names a file/);
  });
});

describe('the bridge', () => {
  it('serves HTTPS, and verifies the certificate of the gateway', async () => {
    const { TLS_CERT_FILE } = certificate.settings;
    // Its certificate does not name this address.
    const url = `https://127.0.0.1:${String(federation.gateway.port)}/graphql`;
    const bridge = await startProcess('rest-bridge', { ...env, REST_PORT: '0', GATEWAY_URL: url, GATEWAY_CERT_FILE: TLS_CERT_FILE });
    const session = openHttp2(certificate, bridge.port);
    const send = (asked: TlsRequest) => readHttp2(beginHttp2(session, asked));
    expect(await send({ path: '/readyz' })).toMatchObject({ status: 200 });
    expect(await send({ path: '/openapi.json' })).toMatchObject({ status: 200, headers: { 'strict-transport-security': HSTS } });
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(await send({ path: '/users', method: 'POST', headers: { 'content-type': 'application/json' }, body })).toMatchObject({
      status: 413,
    });
    const reply = await fetch(`http://localhost:${String(bridge.port)}/v1/users`, { redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([308, `https://localhost:${String(bridge.port)}/v1/users`]);
    session.close();
    await bridge.end('SIGTERM');
  });
});
