/** WebSockets on a real server; the operations are the test's own, so that it decides when they end. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { createTokenVerifier } from '@trestle/identity/verification/token-verifier';
import { createLog } from '@trestle/log';
import { type Service, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes/probes';
import { buildSchema } from 'graphql';
import { createClient, makeServer } from 'graphql-ws';
import { WebSocket } from 'ws';
import { MessageTurns } from '@trestle/service/process/message-turns';
import type { Results } from './operation.ts';
import type { SocketOperations } from './operations.ts';
import { type SocketServer, createSocketServer } from './socket-server.ts';
import { serveSocket } from './transport.ts';

const log = createLog({ service: 'test', level: 'silent' });
const verifier = createTokenVerifier({ publicKeyPem: generateTokenKeys().publicKeyPem });
/** For sockets without operations and without others beside them. */
const SERVED = { extra: {}, log, turns: new MessageTurns(), isFull: () => false, readBuffered: () => 0 };
const schema = buildSchema('type Query { slow: Int } type Subscription { news: Int }');

describe('a socket server that closes', () => {
  let service: Service;
  let server: SocketServer;
  const start = async (operations: SocketOperations) => {
    server = createSocketServer({ schema, operations, verifier, log });
    const probes = createProbes({ isReady: () => true });
    service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle: () => undefined, upgrade: server.upgrade });
    return createClient({ url: `ws://127.0.0.1:${String(service.port)}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 });
  };
  afterEach(() => service.stop());

  it('sends the results of operations in flight first', async () => {
    let arrived: () => void = () => undefined;
    let release: () => void = () => undefined;
    const inFlight = new Promise<void>((resolve) => (arrived = resolve));
    const client = await start({
      async *runOnce() {
        arrived();
        await new Promise<void>((resolve) => (release = resolve));
        yield { data: { slow: 1 } };
      },
      subscribe: () => neverEnding(),
      toFormatted: () => [],
    });
    const closed = new Promise((resolve) =>
      client.on('closed', (event) => {
        resolve((event as { code: number }).code);
      }),
    );
    const results = client.iterate({ query: '{ slow }' });
    const first = results.next();
    await inFlight;
    const closing = server.close();
    release();
    expect((await first).value).toEqual({ data: { slow: 1 } });
    await closing;
    // The client may have closed it first, since it had nothing more to wait for.
    expect([1000, 1001]).toContain(await closed);
  });

  it('ends every subscription and closes its socket with 1001', async () => {
    const returned: number[] = [];
    const client = await start({
      runOnce: () => neverEnding(),
      subscribe: () => neverEnding(() => returned.push(1)),
      toFormatted: () => [],
    });
    let began = 0;
    const streams = Array.from({ length: 10 }, () => client.iterate({ query: 'subscription { news }' }));
    const endings = streams.map(async (stream) => {
      const { done } = await stream.next();
      if (!done) began++;
      return stream.next().catch((error: unknown) => (error as { code: number }).code);
    });
    while (began < 10) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    expect(await Promise.all(endings)).toEqual(Array(10).fill(1001));
    expect(returned).toHaveLength(10);
  });
});

it('terminates the socket of a peer that does not answer pings, and keeps that of one that does', () => {
  jest.useFakeTimers();
  try {
    const open = () =>
      Object.assign(new EventEmitter(), {
        protocol: 'graphql-transport-ws',
        ping: jest.fn(),
        terminate: jest.fn(),
        close: jest.fn(),
        readyState: 1,
        OPEN: 1,
        bufferedAmount: 0,
      });
    const [dead, alive] = [open(), open()];
    alive.ping.mockImplementation(() => alive.emit('pong'));
    for (const socket of [dead, alive]) serveSocket(makeServer({ connectionInitWaitTimeout: 0 }), socket as unknown as WebSocket, SERVED);
    jest.advanceTimersByTime(40_000);
    expect([dead.ping.mock.calls.length, alive.ping.mock.calls.length]).toEqual([1, 3]);
    expect([dead.terminate.mock.calls.length > 0, alive.terminate.mock.calls.length > 0]).toEqual([true, false]);
    for (const socket of [dead, alive]) socket.emit('close', 1000, Buffer.from(''));
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

/** Yields one result, and then nothing until `return` is called. */
function neverEnding(onReturn: () => void = () => undefined): Results {
  const end = new EventEmitter();
  let isFirst = true;
  const done = { done: true, value: undefined } as const;
  const finish = () => {
    onReturn();
    end.emit('end');
    return Promise.resolve(done);
  };
  return {
    async next() {
      if (isFirst) {
        isFirst = false;
        return { done: false, value: { data: { news: 1 } } };
      }
      await once(end, 'end');
      return done;
    },
    return: finish,
    throw: finish,
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await finish();
    },
  };
}

it('repeats the payload of a ping up to a length, and answers longer ones without it', async () => {
  const sent: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    protocol: 'graphql-transport-ws',
    ping: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
    pause: () => undefined,
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    send: (data: string, done: () => void) => {
      sent.push(data);
      done();
    },
  });
  serveSocket(makeServer({ connectionInitWaitTimeout: 0 }), socket as unknown as WebSocket, SERVED);
  const payloads = [undefined, { text: 'short' }, { text: 'x'.repeat(16 * 1024) }, { list: Array.from({ length: 20_000 }, () => 1) }];
  for (const payload of payloads) socket.emit('message', Buffer.from(JSON.stringify({ type: 'ping', payload })));
  while (sent.length < payloads.length) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual(['{"type":"pong"}', '{"type":"pong","payload":{"text":"short"}}', '{"type":"pong"}', '{"type":"pong"}']);
  socket.emit('close', 1000, Buffer.alloc(0));
});
