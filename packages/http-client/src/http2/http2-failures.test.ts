/** How requests by HTTP/2 fail, and how far they came, against real servers. */
import { type ServerHttp2Stream, constants } from 'node:http2';
import { afterEach, describe, expect, it } from '@jest/globals';
import { failPost, post, until } from '../raw-server.ts';
import type { ClientError } from '../upstream-client.ts';
import { Http2Fixtures, echo, reply } from './http2-server.ts';

const servers = new Http2Fixtures();
afterEach(() => servers.close());

describe('a request by HTTP/2 fails with', () => {
  it('UNREACHABLE where nothing listens', async () => {
    const server = await servers.listen(echo);
    await server.close();
    expect(await failPost(servers.connect(server.origin))).toBe('UNREACHABLE, unsent');
  });

  it('CONNECTION_LOST when the connection ends, also within the response', async () => {
    const { origin, cut } = await servers.listenBehindRelay((stream, body) => {
      if (body === 'early') cut();
      else {
        stream.respond({ ':status': 200 });
        stream.write('{', cut);
      }
    });
    const client = servers.connect(origin);
    expect(await failPost(client, 'early')).toBe('CONNECTION_LOST, sent');
    expect(await failPost(client, 'late')).toMatch(/^CONNECTION_LOST, /);
    expect(client.readCounts()).toEqual({ open: 0, waiting: 0, opened: 2 });
  });

  it('CONNECTION_LOST, and nothing was sent, when the server refuses its stream three times', async () => {
    let refused = 0;
    const { client } = await servers.serve((stream) => {
      refused++;
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    expect(await failPost(client)).toBe('CONNECTION_LOST, unsent');
    expect(refused).toBe(3);
  });

  it('CONNECTION_LOST when a response without an error ends before its length', async () => {
    const { client } = await servers.serve((stream) => {
      stream.respond({ ':status': 200, 'content-length': 100 });
      stream.write('{"data":null}', () => {
        stream.close(constants.NGHTTP2_NO_ERROR);
      });
    });
    expect(await failPost(client)).toMatch(/^(?:CONNECTION_LOST|INVALID_RESPONSE), responding$/);
  });

  it('CONNECTION_LOST when the server answers neither it nor a PING, also for the requests that wait for the same connection', async () => {
    const { origin, freeze } = await servers.listenBehindRelay(echo);
    const client = servers.connect(origin, { pingAfterMs: 300 });
    expect((await post(client)).status).toBe(200);
    freeze();
    const failures = await Promise.all([failPost(client), failPost(client)]);
    expect(failures).toEqual(['CONNECTION_LOST, sent', 'CONNECTION_LOST, sent']);
    expect(client.readCounts()).toEqual({ open: 0, waiting: 0, opened: 1 });
  });

  it('TIMEOUT when its response is late; others of its connection go on', async () => {
    const late: ServerHttp2Stream[] = [];
    const { client, sessions } = await servers.serve(
      (stream, body) => {
        if (body === 'late') late.push(stream);
        else reply(stream, 'ok');
      },
      {
        timeoutMs: 1000,
        pingAfterMs: 300,
      },
    );
    const failure = failPost(client, 'late');
    await until(() => late.length === 1);
    expect((await post(client)).body).toBe('ok');
    expect(await failure).toBe('TIMEOUT, sent');
    await until(() => late[0]?.closed === true);
    expect(late[0]?.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect((await post(client)).body).toBe('ok');
    expect(sessions).toHaveLength(1);
  });

  it('RESPONSE_TOO_LARGE when the body has too many bytes', async () => {
    const { client } = await servers.serve(
      (stream) => {
        reply(stream, 'x'.repeat(100_001));
      },
      { maxResponseBytes: 100_000 },
    );
    expect(await failPost(client)).toBe('RESPONSE_TOO_LARGE, responding');
  });

  it.each([
    ['a field of the connection', ['connection', 'close']],
    ['a line break in a value', ['x', 'a\r\nb']],
  ])('INVALID_REQUEST for %s', async (_, headers) => {
    expect(await failPost(servers.connect('http://127.0.0.1:9'), '{}', headers)).toBe('INVALID_REQUEST, unsent');
  });

  it.each([
    ['speaks HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
    ['sends nothing', ''],
  ])('UNREACHABLE when the server %s: nothing was sent', async (_, text) => {
    const origin = await servers.listenTcp((socket) => socket.write(text));
    expect(await failPost(servers.connect(origin, { connectTimeoutMs: 500 }))).toBe('UNREACHABLE, unsent');
  });

  it('ABORTED when it is aborted: its stream is cancelled, and the connection is kept', async () => {
    const held: ServerHttp2Stream[] = [];
    const { client, sessions } = await servers.serve((stream, body) => {
      if (body === 'held') held.push(stream);
      else reply(stream, 'ok');
    });
    const failure = new Promise<ClientError>((resolve) => {
      const sent = client.send({ path: '/', headers: [], body: 'held' }, { onResponse: () => undefined, onFailure: resolve });
      void until(() => held.length === 1).then(() => {
        sent.abort(new Error('The client disconnected'));
      });
    });
    expect(await failure).toMatchObject({ code: 'ABORTED', progress: 'sent' });
    await until(() => held[0]?.closed === true);
    expect((await post(client)).body).toBe('ok');
    expect(sessions).toHaveLength(1);
  });

  it('ABORTED when it waits and is aborted, or the client is closed; and with QUEUE_FULL when too many wait', async () => {
    const { client } = await servers.serve(() => undefined, { maxConnections: 1, maxWaiting: 2 });
    const sendOne = () => {
      const failures: string[] = [];
      const sent = client.send(
        { path: '/', headers: [], body: '{}' },
        { onResponse: () => undefined, onFailure: ({ code, progress }) => failures.push(`${code}, ${progress}`) },
      );
      return { sent, failures };
    };
    const [first, second, third, fourth] = [sendOne(), sendOne(), sendOne(), sendOne()];
    expect(fourth.failures).toEqual(['QUEUE_FULL, unsent']);
    second.sent.abort(new Error('gone'));
    expect(second.failures).toEqual(['ABORTED, unsent']);
    expect(client.readCounts().waiting).toBe(1);
    await client.close();
    expect([first.failures[0], third.failures]).toEqual([expect.stringMatching(/^ABORTED, /), ['ABORTED, unsent']]);
  });
});

describe('a client of HTTP/2', () => {
  it('closes a connection whose server has not answered a PING, also when its last request has ended', async () => {
    const { origin, freeze, sessions } = await servers.listenBehindRelay(echo);
    const client = servers.connect(origin, { pingAfterMs: 300 });
    await post(client);
    freeze();
    const failure = new Promise<ClientError>((resolve) => {
      const sent = client.send({ path: '/', headers: [], body: '{}' }, { onResponse: () => undefined, onFailure: resolve });
      // The server gets the PING; the client gets nothing any more.
      sessions[0]?.once('ping', () => {
        sent.abort(new Error('The client disconnected'));
      });
    });
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    await until(() => client.readCounts().open === 0);
  });

  it('keeps a connection on which bytes arrive, although a PING has no answer', async () => {
    const held: ServerHttp2Stream[] = [];
    const { origin, deafen } = await servers.listenBehindRelay((stream) => held.push(stream));
    const response = post(servers.connect(origin, { pingAfterMs: 300 }));
    await until(() => held.length === 1);
    deafen();
    held[0]?.respond({ ':status': 200 });
    let written = 0;
    const parts = setInterval(() => {
      written++;
      held[0]?.write('x');
    }, 50);
    // It takes longer than the client waits for any byte.
    await until(() => written === 20);
    clearInterval(parts);
    held[0]?.end();
    expect((await response).body).toBe('x'.repeat(20));
  });
});
