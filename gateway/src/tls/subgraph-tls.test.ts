/** Mutual TLS and own authorities to subgraphs, by each client of the gateway, against a real TLS server. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { createConnectionPool } from '@trestle/http-client/connection-pool';
import { OPTIONS, failPost, post, until } from '@trestle/http-client/raw-server';
import { createSubgraphSockets } from '../upstream/subscriptions/subgraph-sockets.ts';
import { createSubgraphStreams } from '../upstream/subscriptions/subgraph-streams.ts';
import { createHttp2Client } from '@trestle/http-client/http2/http2-client';
import { createUndiciClient } from '@trestle/http-client/undici-client';
import type { ReadTls, UpstreamClient } from '@trestle/http-client/upstream-client';
import { type SubgraphTls, type TlsFiles, createSubgraphTls, readTlsFiles } from './subgraph-tls.ts';
import { type Authority, type Signed, createAuthority } from '@trestle/service/testing/test-authority';
import { Folder } from './test-folder.ts';

const lines: string[] = [];
const log = createLog({ service: 'test', level: 'info' });
log.setSink((line) => lines.push(line));

const folder = new Folder();
let authority: Authority;
let other: Authority;
let server: Signed;
let client: Signed;
beforeAll(async () => {
  [authority, other] = await Promise.all([createAuthority(), createAuthority()]);
  [server, client] = await Promise.all([authority.sign('localhost'), authority.sign('gateway')]);
});
afterAll(() => {
  folder.remove();
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Writes the files of a connection; a `TlsFiles` of their paths. */
const write = (name: string, { ca, pair }: { ca?: string; pair?: Signed }): TlsFiles => ({
  ...(ca !== undefined && { ca: folder.write(`${name}-ca.pem`, ca) }),
  ...(pair && { certificate: folder.write(`${name}.pem`, pair.cert), key: folder.write(`${name}-key.pem`, pair.key) }),
});

function use(files: TlsFiles): SubgraphTls {
  const tls = createSubgraphTls({ all: {}, bySubgraph: new Map([['orders', files]]) }, log);
  closers.unshift(() => {
    tls.stop();
  });
  return tls;
}

/** Answers with the common name of the client's certificate. */
function answer({ socket }: { readonly socket: object }, response: Pick<ServerResponse, 'end'>): void {
  response.end(/CN=(.*)/.exec((socket as Partial<TLSSocket>).getPeerX509Certificate?.()?.subject ?? '')?.[1] ?? 'none');
}

async function listen(kind: 'http1' | 'http2', options: TlsOptions): Promise<string> {
  const created =
    kind === 'http1'
      ? createServer(options, answer)
      : createSecureServer(options).on('stream', (stream) => {
          stream.respond({ ':status': 200 });
          answer({ socket: stream.session?.socket as never }, stream as never);
        });
  const sockets = new Set<TLSSocket>();
  created.on('secureConnection', (socket: TLSSocket) => sockets.add(socket.on('error', () => undefined)));
  created.listen(0, '127.0.0.1');
  await once(created, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => created.close(resolve));
  });
  return `https://localhost:${String((created.address() as AddressInfo).port)}`;
}

const CLIENTS: [string, 'http1' | 'http2', (origin: string, tls: ReadTls) => UpstreamClient][] = [
  ['the lean client', 'http1', (origin, tls) => createConnectionPool(origin, { ...OPTIONS, tls })],
  ['the client of undici by HTTP/1.1', 'http1', (origin, tls) => createUndiciClient(origin, { ...OPTIONS, tls })],
  ['the client of undici by HTTP/2', 'http2', (origin, tls) => createUndiciClient(origin, { ...OPTIONS, tls })],
  ['the client of HTTP/2', 'http2', (origin, tls) => createHttp2Client(origin, { ...OPTIONS, tls })],
];

describe.each(CLIENTS)('%s', (_, kind, create) => {
  const connect = (origin: string, tls: SubgraphTls) => {
    const connected = create(origin, tls.of('Orders'));
    closers.unshift(() => connected.close());
    return connected;
  };
  const mutual = (): TlsOptions => ({ ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true });

  it('presents its certificate to a server of its own authority', async () => {
    const origin = await listen(kind, mutual());
    const tls = use(write('mutual', { ca: authority.cert, pair: client }));
    expect((await post(connect(origin, tls))).body).toBe('gateway');
  });

  it('refuses a server of another authority, one whose certificate has expired, and one without own authorities', async () => {
    const origin = await listen(kind, server);
    const expired = await listen(kind, await authority.sign('localhost', new Date(Date.now() - 60_000)));
    const [trusting, distrusting] = [use(write('trusting', { ca: authority.cert })), use(write('other', { ca: other.cert }))];
    for (const refused of [connect(origin, distrusting), connect(expired, trusting), connect(origin, use({}))])
      expect(await failPost(refused)).toMatch(/^(?:UNREACHABLE|CONNECTION_LOST), /);
    expect((await post(connect(origin, trusting))).body).toBe('none');
  });

  it('is refused without a certificate, with that of another authority, and with an expired one', async () => {
    const origin = await listen(kind, mutual());
    const pairs = [undefined, await other.sign('gateway'), await authority.sign('gateway', new Date(Date.now() - 60_000))];
    for (const [i, pair] of pairs.entries()) {
      const tls = use(write(`refused-${String(i)}`, { ca: authority.cert, ...(pair && { pair }) }));
      expect(await failPost(connect(origin, tls))).toMatch(/^(?:UNREACHABLE|CONNECTION_LOST), /);
    }
  });

  it('uses changed files for new connections, and keeps the open one', async () => {
    const origin = await listen(kind, mutual());
    const files = write('changed', { ca: authority.cert, pair: client });
    const tls = use(files);
    const before = connect(origin, tls);
    expect((await post(before)).body).toBe('gateway');
    const context = tls.of('orders')();
    write('changed', { pair: await authority.sign('renewed') });
    await until(() => tls.of('orders')() !== context);
    expect([(await post(before)).body, (await post(connect(origin, tls))).body]).toEqual(['gateway', 'renewed']);
  });
});

describe('subscriptions', () => {
  it('present the certificate of their subgraph, and are lost when the server trusts none of their authorities', async () => {
    const https = createServer({ ...server, ca: authority.cert, requestCert: true });
    const sockets = new WebSocketServer({ server: https });
    const ticks = async function* () {
      yield { tick: 1 };
      await new Promise(() => undefined);
    };
    useServer(
      { schema: buildSchema('type Query { a: Int } type Subscription { tick: Int }'), roots: { subscription: { tick: ticks } } },
      sockets,
    );
    https.listen(0, '127.0.0.1');
    await once(https, 'listening');
    const pool = createSubgraphSockets({ pingIntervalMs: 10_000 });
    closers.push(() => {
      pool.close();
      for (const each of sockets.clients) each.terminate();
      https.closeAllConnections();
      return new Promise((resolve) => https.close(resolve));
    });
    const url = `wss://localhost:${String((https.address() as AddressInfo).port)}`;
    const subscribe = (tls: SubgraphTls) =>
      new Promise<string>((resolve) => {
        const payload = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };
        const end = () => {
          resolve('lost');
        };
        const receiver = {
          next: () => {
            resolve('event');
          },
          refused: end,
          complete: end,
          lost: end,
        };
        pool.open({ name: 'orders', url, tls: tls.of('orders') }).subscribe({ identity: [], requestId: 'r', payload }, receiver);
      });
    expect(await subscribe(use(write('without', { ca: authority.cert })))).toBe('lost');
    expect(await subscribe(use(write('distrusting', { ca: other.cert, pair: client })))).toBe('lost');
    expect(await subscribe(use(write('mutual', { ca: authority.cert, pair: client })))).toBe('event');
  });
});

describe('server-sent events from subgraphs', () => {
  it('come over TLS with the certificates of the subgraph, also from a server that has HTTP/2 only', async () => {
    const secure = createSecureServer({ ...server, ca: authority.cert, requestCert: true, allowHTTP1: false }).on('stream', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
      stream.write('event: next\ndata: {"data":{"tick":1}}\n\n');
      stream.on('error', () => undefined);
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const pool = createSubgraphStreams();
    closers.push(() => {
      pool.close();
      return new Promise((resolve) => secure.close(resolve));
    });
    const url = `https://localhost:${String((secure.address() as AddressInfo).port)}`;
    const subscribe = (tls: SubgraphTls) =>
      new Promise<string>((resolve) => {
        const payload = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };
        const end = () => {
          resolve('lost');
        };
        const next = () => {
          resolve('event');
        };
        const receiver = { next, refused: end, complete: end, lost: end };
        pool.open({ name: 'orders', url, tls: tls.of('orders') }).subscribe({ identity: [], requestId: 'r', payload }, receiver);
      });
    expect(await subscribe(use(write('sse-distrusting', { ca: other.cert, pair: client })))).toBe('lost');
    const mutual = use(write('sse-mutual', { ca: authority.cert, pair: client }));
    expect(await subscribe(mutual)).toBe('event');
  });
});

describe('other files', () => {
  it('are used from the call of `use` on, and not at all when one of them is not valid', async () => {
    const tls = use(write('prepared', { ca: authority.cert, pair: client }));
    const context = tls.of('orders')();
    const toSettings = (files: TlsFiles) => ({ all: {}, bySubgraph: new Map([['orders', files]]) });
    expect(() => tls.prepare(toSettings({ ca: folder.write('prepared-bad', 'no certificate') }))).toThrow();
    tls.prepare(toSettings(write('discarded', { ca: other.cert }))).discard();
    const prepared = tls.prepare(toSettings(write('next', { ca: authority.cert, pair: await authority.sign('next') })));
    expect(tls.of('orders')()).toBe(context);
    prepared.use();
    prepared.discard();
    const used = tls.of('orders')();
    expect(used).not.toBe(context);
    write('next', { pair: await authority.sign('renewed') });
    await until(() => tls.of('orders')() !== used);
  });
});

describe('files of TLS', () => {
  it('that are not valid after a change leave the last ones in use, with a line in the log that quotes no key', async () => {
    const files = write('bad', { ca: authority.cert, pair: client });
    const tls = use(files);
    const context = tls.of('orders')();
    lines.length = 0;
    folder.write('bad-key.pem', server.key);
    await until(() => lines.some((line) => line.includes('refused changed files of TLS to subgraphs')));
    expect(tls.of('orders')()).toBe(context);
    expect(lines.join('')).toContain('is not the key of the client certificate');
    expect(lines.join('')).not.toContain(server.key.split('\n')[1] ?? server.key);
  });

  it.each<[string, (valid: TlsFiles) => TlsFiles, string]>([
    ['a missing file', () => ({ ca: '/nonexistent/ca.pem' }), 'names a file that cannot be read'],
    ['a file without a certificate', () => ({ ca: folder.write('text', 'text') }), 'must have a certificate in PEM format'],
    ['an empty file', () => ({ ca: folder.write('empty', '') }), 'must have a certificate in PEM format'],
    [
      'a damaged second certificate',
      () => ({ ca: folder.write('two', authority.cert + authority.cert.replace(/\n.{20}/, '\n')) }),
      'has a certificate that cannot be read, number 2 of 2',
    ],
    ['a certificate without its key', ({ certificate }) => ({ certificate }), 'needs keyFile, its private key'],
    ['a key without its certificate', ({ key }) => ({ key }), 'needs certificateFile, the certificate of the key'],
    ['a certificate as the key', ({ certificate }) => ({ certificate, key: certificate }), 'must have a private key in PEM format'],
    [
      'the key of another certificate',
      ({ certificate }) => ({ certificate, key: folder.write('foreign', server.key) }),
      'is not the key of the client certificate',
    ],
  ])('are refused at the start: %s', (_, change, message) => {
    expect(() => readTlsFiles(change(write('valid', { ca: authority.cert, pair: client })))).toThrow(message);
  });
});
