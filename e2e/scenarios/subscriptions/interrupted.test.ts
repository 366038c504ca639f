/** Operations that end before they have begun, because their client disconnects or ends them: nothing of them stays. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import { type ClientHttp2Session, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { type Certificate, beginHttp2, createCertificate, openHttp2, readHttp2 } from '../../stack/clients/tls-client.ts';

/** At the hook that the request names, waits for the response of the test. */
const EXTENSION = `
const wait = async (hook, { request }) => {
  if (request.headers['x-wait'] === hook) await fetch(process.env.TEST_GATE);
};
export default async () => [
  { name: 'gate', onRequest: (event) => wait('onRequest', event), onSubscribe: (event) => wait('onSubscribe', event) },
];
`;

const harbours = createHarbours();
const { arrivals } = harbours;
let home: string;
let gate: Server;
let certificate: Certificate;
/** Ends the wait of a request. */
let held: (() => void)[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-interrupted-'));
  certificate = await createCertificate(home);
  await writeFile(join(home, 'extension.mjs'), EXTENSION);
  gate = createServer((_, response) => held.push(() => response.end()));
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  gate.closeAllConnections();
  await new Promise((resolve) => gate.close(resolve));
  await rm(home, { recursive: true, force: true });
});

const start = (env: Readonly<Record<string, string>> = {}) =>
  startFederation(harbours.sources, {
    env: {
      EXTENSIONS_FILE: join(home, 'extension.mjs'),
      EXTENSION_TIMEOUT_MS: '60000',
      MAX_DEFERRED: '10',
      TEST_GATE: `http://127.0.0.1:${String((gate.address() as AddressInfo).port)}/`,
      ...env,
    },
  });
const holds = (check: () => boolean) => until(() => Promise.resolve(check()));

let federation: Federation;
beforeEach(() => {
  held = [];
});
afterEach(() => federation.stop());

describe('a stream of HTTP/2 that the client resets', () => {
  let session: ClientHttp2Session;
  beforeEach(async () => {
    federation = await start(certificate.settings);
    session = openHttp2(certificate, federation.gateway.port);
  });
  afterEach(() => {
    session.destroy();
  });

  const post = (query: string, headers: Readonly<Record<string, string>>) =>
    beginHttp2(session, {
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
  const readMetrics = async () => (await readHttp2(beginHttp2(session, { path: '/metrics' }))).text;

  it('while a hook is waited for begins no subscription', async () => {
    const stream = post(ARRIVALS, { accept: 'text/event-stream', 'x-wait': 'onRequest' });
    stream.on('error', () => undefined);
    await holds(() => held.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    // The gateway has read it when it acknowledges what was sent afterwards.
    await new Promise((resolve) => session.ping(resolve));
    held[0]?.();
    await holds(() => federation.gateway.lines.some((line) => line.includes('"status":499')));
    // Nothing that was begun later came before it.
    expect(await readMetrics()).not.toMatch(/^trestle_subscriptions_open\{.*\} [1-9]/m);
    expect([federation.received, arrivals.listeners]).toEqual([[], 0]);
  });

  it.each([
    ['CANCEL', constants.NGHTTP2_CANCEL],
    ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
  ])('with %s during the execution leaves no part of the result in memory', async (_, code) => {
    let fetching = 0;
    federation.intercept = (_, { socket }) => {
      fetching++;
      socket.once('close', () => fetching--);
      return new Promise(() => undefined);
    };
    const stream = post('{ ships { id } ... @defer { cargo } }', { accept: 'multipart/mixed' });
    stream.on('error', () => undefined);
    await holds(() => fetching > 0);
    stream.close(code);
    await holds(() => fetching === 0);
    const metrics = await readMetrics();
    expect(metrics).toMatch(/^trestle_send_buffer_clients 0$/m);
    expect(metrics).toMatch(/^trestle_send_buffer_bytes 0$/m);
  });
});

describe('an operation of single connection mode', () => {
  const reserve = async () => (await request(federation.url, { method: 'PUT' })).text;
  const send = (token: string, query: string, headers: Readonly<Record<string, string>> = {}) =>
    request(federation.url, {
      method: 'POST',
      body: { query, extensions: { operationId: 'a' } },
      headers: { 'x-graphql-event-stream-token': token, ...headers },
    });

  it('is answered 202 when it is ended before its subscription begins', async () => {
    federation = await start();
    const token = await reserve();
    const sent = send(token, ARRIVALS, { 'x-wait': 'onSubscribe' });
    await holds(() => held.length === 1);
    const headers = { 'x-graphql-event-stream-token': token };
    expect((await request(`${federation.url}?operationId=a`, { method: 'DELETE', headers })).status).toBe(200);
    expect((await sent).status).toBe(202);
    held[0]?.();
    expect((await send(token, '{ cargo }')).status).toBe(202);
    expect(arrivals.listeners).toBe(0);
  });
});
