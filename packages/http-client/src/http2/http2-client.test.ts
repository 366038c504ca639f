/** Requests by HTTP/2 (RFC 9113), against real servers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { type ServerHttp2Stream, constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSelfSigned } from '@trestle/service/testing/test-authority';
import { Fixtures, failPost, post, respond, until } from '../raw-server.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { Http2Fixtures, answerOk, echo, reply } from './http2-server.ts';

const servers = new Http2Fixtures();
const http1 = new Fixtures();
const folders: string[] = [];
afterEach(async () => {
  await servers.close();
  await http1.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const postAll = (client: UpstreamClient, bodies: readonly string[]) => Promise.all(bodies.map((body) => post(client, body)));
const BODIES = Array.from({ length: 8 }, (_, i) => JSON.stringify({ n: i, text: 'ä'.repeat(i * 1000) }));

describe('requests by HTTP/2', () => {
  it('are in flight together on one connection, and each gets its own response', async () => {
    const held: [ServerHttp2Stream, string][] = [];
    const { client, sessions } = await servers.serve((stream, body) => {
      held.push([stream, body]);
      // The last one is answered first.
      if (held.length === BODIES.length) for (const [each, text] of held.reverse()) reply(each, text);
    });
    const responses = await postAll(client, BODIES);
    expect(responses.map(({ body }) => Buffer.from(body, 'latin1').toString())).toEqual(BODIES);
    expect(sessions).toHaveLength(1);
    expect(client.readCounts()).toEqual({ open: 1, waiting: 0, opened: 1 });
  });

  it('are at most as many at a time as maxConnections says; others wait', async () => {
    const held: ServerHttp2Stream[] = [];
    const { client } = await servers.serve((stream) => held.push(stream), { maxConnections: 3 });
    const responses = postAll(client, BODIES);
    for (let answered = 0; answered < BODIES.length;) {
      await until(() => held.length === Math.min(3, BODIES.length - answered));
      expect(client.readCounts().waiting).toBe(Math.max(0, BODIES.length - answered - 3));
      answered += held.length;
      for (const stream of held.splice(0)) reply(stream, 'ok');
    }
    expect(await responses).toHaveLength(BODIES.length);
  });

  it('use further connections when the server allows fewer streams on one', async () => {
    const held: ServerHttp2Stream[] = [];
    const { client, sessions } = await servers.serve((stream) => held.push(stream), {}, { settings: { maxConcurrentStreams: 2 } });
    const first = post(client);
    await until(() => held.length === 1);
    const others = postAll(client, BODIES.slice(1));
    await until(() => held.length === BODIES.length);
    expect(sessions).toHaveLength(4);
    for (const stream of held) reply(stream, 'ok');
    await Promise.all([first, others]);
  });

  it('have Content-Length, the origin as authority, and header fields of which some repeat', async () => {
    const { client, origin } = await servers.serve((stream, _, headers) => {
      reply(stream, JSON.stringify(headers));
    });
    const { body } = await post(client, '{"a":"é"}', ['Content-Type', 'application/json', 'x-tag', 'a', 'X-Tag', 'b', 'cookie', 'c=1']);
    expect(JSON.parse(body)).toEqual({
      ...{ ':method': 'POST', ':scheme': 'http', ':path': '/graphql', ':authority': new URL(origin).host },
      ...{ 'content-type': 'application/json', 'content-length': '10', 'x-tag': 'a, b', cookie: 'c=1' },
    });
  });

  it('go to a Unix domain socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trestle-http2-'));
    folders.push(folder);
    const path = join(folder, 'a.sock');
    const server = await servers.listen(echo, {}, { path });
    expect((await post(servers.connect(server.origin, { socketPath: path }), '{"a":1}')).body).toBe('{"a":1}');
  });

  it('are sent again when the server refuses their streams (RFC 9113 §8.7)', async () => {
    const seen = new Set<string>();
    const { client, sessions } = await servers.serve((stream, body) => {
      if (seen.has(body)) reply(stream, body);
      else stream.close(constants.NGHTTP2_REFUSED_STREAM);
      seen.add(body);
    });
    const responses = await postAll(client, BODIES);
    expect(responses.map(({ body }) => Buffer.from(body, 'latin1').toString())).toEqual(BODIES);
    expect(sessions).toHaveLength(1);
  });

  it('may have a body that is streamed', async () => {
    const { client } = await servers.serve((stream, body) => {
      reply(stream, String(body.length));
    });
    const body = Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(10_000, 'x')));
    const response = await new Promise<string>((resolve, reject) => {
      const onResponse = (each: { bytes: Buffer }) => {
        resolve(each.bytes.toString());
      };
      client.send({ path: '/graphql', headers: [], body }, { onResponse, onFailure: reject });
    });
    expect(response).toBe('640000');
  });
});

describe('a connection by TLS', () => {
  it('is HTTP/2, and is refused when the server does not offer it', async () => {
    const { cert, key } = await createSelfSigned();
    const context = createSecureContext({ ca: cert });
    const { client } = await servers.serve(echo, { tls: () => context }, { cert, key });
    expect((await post(client, '{"a":1}')).body).toBe('{"a":1}');
    const { origin } = await http1.listen((socket) => socket.write(respond('ok')), { cert, key });
    expect(await failPost(servers.connect(origin, { tls: () => context }))).toBe('UNREACHABLE, unsent');
  });
});

describe('a server that goes away (GOAWAY, RFC 9113 §6.8)', () => {
  it('answers the requests in flight; the next one goes over a new connection', async () => {
    const held: ServerHttp2Stream[] = [];
    const { client, sessions } = await servers.serve((stream, body) => {
      if (body === 'held') held.push(stream);
      else reply(stream, 'ok');
    });
    const response = post(client, 'held');
    await until(() => held.length === 1);
    sessions[0]?.goaway();
    // A request that crosses the frame is not processed, and is sent again.
    while (sessions.length === 1) expect((await post(client)).status).toBe(200);
    reply(held[0] as ServerHttp2Stream, 'answered');
    expect((await response).body).toBe('answered');
    await until(() => client.readCounts().open === 1);
  });
});

describe('a client of HTTP/2', () => {
  it('closes a connection that is idle for too long', async () => {
    const { client } = await servers.serve(answerOk, { idleMs: 300, timeoutMs: 1000 });
    await post(client);
    expect(client.readCounts().open).toBe(1);
    await until(() => client.readCounts().open === 0);
    expect((await post(client)).body).toBe('ok');
  });

  it('that is retired closes its connection after the requests in flight', async () => {
    const held: ServerHttp2Stream[] = [];
    const { client } = await servers.serve((stream) => held.push(stream));
    const response = post(client);
    await until(() => held.length === 1);
    const retired = client.retire();
    reply(held[0] as ServerHttp2Stream, 'ok');
    expect((await response).body).toBe('ok');
    await retired;
    expect(client.readCounts().open).toBe(0);
  });
});
