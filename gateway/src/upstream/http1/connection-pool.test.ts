/** Connections, limits and failures, against real TCP and TLS servers. */
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { generate } from 'selfsigned';
import type { ClientError } from '../upstream-client.ts';
import { Fixtures, type RawRequest, failPost, post, respond, until } from './raw-server.ts';

const fixtures = new Fixtures();
afterEach(() => fixtures.close());

describe('a request', () => {
  it('is one packet with its fields, and carries characters beyond ASCII in its body', async () => {
    const requests: RawRequest[] = [];
    const server = await fixtures.listen((socket, request) => {
      requests.push(request);
      socket.write(respond('ok'));
    });
    let packets = 0;
    const client = fixtures.connect(server);
    await post(client, '{"first":1}');
    server.sockets[0]?.on('data', () => packets++);
    for (const body of ['{"a":1}', '{"a":"é"}', '{"a":"漢🙂"}']) {
      for (const value of ['plain', 'obs-text \xe9']) {
        await post(client, body, ['content-type', 'application/json', 'x-test', value]);
        const { head, body: received } = requests.at(-1) as RawRequest;
        expect(received).toBe(body);
        expect(head).toBe(
          `POST /graphql HTTP/1.1\r\nhost: ${new URL(server.origin).host}\r\ncontent-type: application/json\r\n` +
            `x-test: ${value}\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\n\r\n`,
        );
      }
    }
    expect(packets).toBe(6);
  });

  it.each([
    ['a line break in a value', ['x', 'a\r\ny: b']],
    ['a NUL in a value', ['x', 'a\0']],
    ['a character beyond latin1 in a value', ['x', '漢']],
    ['a space in a name', ['x y', 'a']],
    ['an empty name', ['', 'a']],
    ['a field of the framing', ['Content-Length', '1']],
    ['a field of the connection', ['transfer-encoding', 'chunked']],
    ['another host', ['host', 'evil.example']],
  ])('is refused with %s', async (_, headers) => {
    let count = 0;
    const client = await fixtures.serve((socket) => socket.write(respond('ok'), () => count++));
    expect(await failPost(client, '{}', headers)).toBe('INVALID_REQUEST, unsent');
    expect(count).toBe(0);
  });

  it('of 5 MB arrives complete', async () => {
    const client = await fixtures.serve((socket, { body }) => socket.write(respond(String(body.length))));
    expect(await post(client, 'x'.repeat(5_000_000))).toMatchObject({ body: '5000000' });
  });

  it('fails with TIMEOUT when the server accepts and never answers, or sends too slowly', async () => {
    const silent = await fixtures.serve(() => undefined, { timeoutMs: 100 });
    expect(await failPost(silent)).toBe('TIMEOUT, sent');
    const slow = await fixtures.serve(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        const timer = setInterval(() => socket.write('y'), 5);
        socket.once('close', () => {
          clearInterval(timer);
        });
      },
      { timeoutMs: 500 },
    );
    expect(await failPost(slow)).toBe('TIMEOUT, responding');
  });

  it('fails with UNREACHABLE, unsent, when nothing listens or the host is unknown', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await failPost(fixtures.connect({ origin: `http://127.0.0.1:${String(port)}` }))).toBe('UNREACHABLE, unsent');
    expect(await failPost(fixtures.connect({ origin: 'http://nowhere.invalid' }))).toBe('UNREACHABLE, unsent');
  });

  it('fails with UNREACHABLE, unsent, when a connection is not opened in time', async () => {
    // Its TLS handshake never ends.
    const server = await fixtures.listen(() => undefined);
    const client = fixtures.connect({ origin: server.origin.replace('http:', 'https:') }, { connectTimeoutMs: 50 });
    expect(await failPost(client)).toBe('UNREACHABLE, unsent');
  });

  it.each([
    ['before a byte of the response', '', 'CONNECTION_LOST, sent'],
    ['within the head', 'HTTP/1.1 200', 'CONNECTION_LOST, responding'],
    ['within a body of known length', respond('abc').slice(0, -1), 'CONNECTION_LOST, responding'],
    ['within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab', 'CONNECTION_LOST, responding'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'CONNECTION_LOST, responding'],
  ])('fails when the server closes or resets the connection %s', async (_, text, failure) => {
    const closing = await fixtures.serve((socket, { index }) => (index === 0 ? socket.write(respond('ok')) : socket.end(text)));
    await post(closing);
    expect(await failPost(closing)).toBe(failure);
    const resetting = await fixtures.serve((socket) => socket.write(text, () => setImmediate(() => socket.resetAndDestroy())));
    expect(await failPost(resetting)).toMatch(/^CONNECTION_LOST, (?:sent|responding)$/);
  });

  it('waits for a connection in turn with those of other clients', async () => {
    const order: string[] = [];
    const server = await fixtures.listen((socket, { body }) => {
      order.push(body);
      socket.write(respond('ok'));
    });
    const client = fixtures.connect(server, { maxConnections: 1 });
    const send = (name: string) =>
      new Promise<void>((resolve, reject) => {
        const onResponse = () => {
          resolve();
        };
        client.send({ path: '/', headers: [], body: name, client: name.slice(0, 1) }, { onResponse, onFailure: reject });
      });
    await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(send));
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('fails with ABORTED when it is aborted: in flight, waiting, and not after its end', async () => {
    const server = await fixtures.listen(() => undefined);
    const client = fixtures.connect(server, { maxConnections: 1 });
    const codes: string[] = [];
    const handler = { onResponse: () => undefined, onFailure: ({ code }: ClientError) => codes.push(code) };
    const sent = client.send({ path: '/', headers: [], body: '{}' }, handler);
    await until(() => server.sockets.length === 1);
    const waiting = client.send({ path: '/', headers: [], body: '{}' }, handler);
    waiting.abort(new Error('gone'));
    expect(codes).toEqual(['ABORTED']);
    sent.abort(new Error('gone'));
    sent.abort(new Error('gone'));
    waiting.abort(new Error('gone'));
    expect(codes).toEqual(['ABORTED', 'ABORTED']);
    await until(() => server.sockets[0]?.destroyed === true);
  });

  it('waits for a connection within limits of number, bytes and time', async () => {
    const client = await fixtures.serve(() => undefined, {
      maxConnections: 2,
      maxWaiting: 2,
      maxWaitingBytes: 1000,
      timeoutMs: 200,
    });
    const inFlight = [failPost(client), failPost(client)];
    const waiting = [failPost(client), failPost(client, 'x'.repeat(1000)), failPost(client), failPost(client)];
    const isTimeout = expect.stringMatching(/^TIMEOUT/) as unknown;
    expect(await Promise.all(waiting)).toEqual([isTimeout, 'QUEUE_FULL, unsent', isTimeout, 'QUEUE_FULL, unsent']);
    expect(await Promise.all(inFlight)).toEqual(['TIMEOUT, sent', 'TIMEOUT, sent']);
  });

  it('waits in order, and more requests than connections are all answered', async () => {
    const server = await fixtures.listen((socket, { body }) => socket.write(respond(body)));
    const client = fixtures.connect(server, { maxConnections: 3 });
    const bodies = Array.from({ length: 200 }, (_, i) => `n${String(i)}`);
    expect((await Promise.all(bodies.map((body) => post(client, body)))).map(({ body }) => body)).toEqual(bodies);
    expect(server.sockets).toHaveLength(3);
  });

  it('fails with ABORTED when the client is closed, and after that', async () => {
    const client = await fixtures.serve(() => undefined, { maxConnections: 1 });
    const failures = [failPost(client), failPost(client)];
    await client.close();
    expect(await Promise.all([...failures, failPost(client)])).toEqual(['ABORTED, unsent', 'ABORTED, unsent', 'ABORTED, unsent']);
  });
});

describe('a connection', () => {
  /** Returns how many connections two requests need, one after the other. */
  async function countConnections(text: string, act: (sockets: number) => Promise<unknown> = () => Promise.resolve()) {
    const server = await fixtures.listen((socket) => socket.write(text));
    const client = fixtures.connect(server);
    expect(await post(client)).toMatchObject({ body: 'ok' });
    await act(server.sockets.length);
    expect(await post(client)).toMatchObject({ body: 'ok' });
    return server.sockets.length;
  }

  it('carries the next request', async () => {
    expect(await countConnections(respond('ok', 'Connection: keep-alive\r\nKeep-Alive: timeout=5, max=100\r\n'))).toBe(1);
    expect(await countConnections(respond('ok', 'Connection: x, y\r\n'))).toBe(1);
  });

  it.each([
    ['Connection: close', respond('ok', 'Connection: close\r\n')],
    ['Connection: close in a list', respond('ok', 'Connection: keep-alive\r\nConnection: x, Close\r\n')],
    ['HTTP/1.0', respond('ok').replace('1.1', '1.0')],
    ['Keep-Alive that allows no more requests', respond('ok', 'Keep-Alive: timeout=5, max=0\r\n')],
    ['Keep-Alive that ends within a second', respond('ok', 'Keep-Alive: timeout=1\r\n')],
    ['a second response that nobody requested', respond('ok') + respond('smuggled')],
    ['bytes after the response', respond('ok') + '\r\n'],
    ['bytes after the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx'],
    ['bytes after a response without a body', `HTTP/1.1 100 Continue\r\n\r\n${respond('ok')}x`],
  ])('carries no other request after %s', async (_, text) => {
    expect(await countConnections(text)).toBe(2);
  });

  it('is closed when bytes arrive that nobody requested, or when the server closes it', async () => {
    for (const act of ['write', 'end', 'reset'] as const) {
      const server = await fixtures.listen((socket) => socket.write(respond('ok')));
      const client = fixtures.connect(server);
      await post(client);
      const first = server.sockets[0];
      if (act === 'write') first?.write(respond('smuggled'));
      else if (act === 'end') first?.end();
      else first?.resetAndDestroy();
      await until(() => first?.destroyed === true);
      // A reset may still be on its way: then the request fails, and nothing of the closed connection reaches it.
      const { body } = await post(client).catch(() => post(client));
      expect(body).toBe('ok');
      expect(server.sockets).toHaveLength(2);
    }
  });

  it('is closed when it was idle for its time', async () => {
    const server = await fixtures.listen((socket) => socket.write(respond('ok')));
    await post(fixtures.connect(server, { idleMs: 50 }));
    await until(() => server.sockets[0]?.destroyed === true);
  });

  it('carries no other request when the response came before the request was sent wholly', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.pause().write(respond('early'));
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = fixtures.connect({ origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` });
    const large = 'x'.repeat(20_000_000);
    expect(await post(client, large)).toMatchObject({ body: 'early' });
    expect(await post(client, large)).toMatchObject({ body: 'early' });
    expect(sockets).toHaveLength(2);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is opened again for the requests that wait when one fails', async () => {
    const client = await fixtures.serve((socket, { body }) => (body === 'bad' ? socket.destroy() : socket.write(respond(body))), {
      maxConnections: 1,
    });
    const all = await Promise.all(
      ['a', 'bad', 'b', 'bad', 'c'].map((body) => post(client, body).catch((error: unknown) => (error as ClientError).code)),
    );
    expect(all.map((each) => (typeof each === 'string' ? each : each.body))).toEqual(['a', 'CONNECTION_LOST', 'b', 'CONNECTION_LOST', 'c']);
  });

  it('speaks TLS, verifies the certificate, and resumes the session', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    });
    const context = createSecureContext({ ca: cert });
    const tls = () => context;
    const large = 'x'.repeat(300_000);
    const server = await fixtures.listen(
      (socket, { index }) => socket.write(respond(index % 2 === 0 ? 'ok' : large, index === 1 ? 'Connection: close\r\n' : '')),
      { cert, key },
    );
    const client = fixtures.connect(server, { tls });
    for (let i = 0; i < 4; i++) expect((await post(client)).body).toBe(i % 2 === 0 ? 'ok' : large);
    expect(server.sockets).toHaveLength(2);
    expect((server.sockets[1] as unknown as { isSessionReused: () => boolean }).isSessionReused()).toBe(true);
    expect(await failPost(fixtures.connect(server))).toBe('UNREACHABLE, unsent');
    expect(await failPost(fixtures.connect({ origin: server.origin.replace('localhost', '127.0.0.1') }, { tls }))).toBe(
      'UNREACHABLE, unsent',
    );
  });
});
