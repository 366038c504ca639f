/** The door for WebSockets on a real server; operations are made up, so that a test says when they end. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { createTokenVerifier, generateTokenKeys } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { type Service, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes';
import { buildSchema } from 'graphql';
import { createClient, makeServer } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Results, SocketOperations } from './socket-operations.ts';
import { carry } from './socket-transport.ts';
import { type SocketDoor, createSocketDoor } from './socket.ts';

const log = createLog({ service: 'test', level: 'silent' });
const verifier = createTokenVerifier({ publicKeyPem: generateTokenKeys().publicKeyPem });
const schema = buildSchema('type Query { slow: Int } type Subscription { news: Int }');

describe('a door that closes', () => {
  let service: Service;
  let door: SocketDoor;
  const start = async (operations: SocketOperations) => {
    door = createSocketDoor({ schema, operations, verifier, log });
    const probes = createProbes({ isReady: () => true });
    service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle: () => undefined, upgrade: door.upgrade });
    return createClient({ url: `ws://127.0.0.1:${String(service.port)}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 });
  };
  afterEach(() => service.stop());

  it('lets what is in hand be answered first', async () => {
    let arrived: () => void = () => undefined;
    let release: () => void = () => undefined;
    const inHand = new Promise<void>((resolve) => (arrived = resolve));
    const client = await start({
      async *runOnce() {
        arrived();
        await new Promise<void>((resolve) => (release = resolve));
        yield { data: { slow: 1 } };
      },
      subscribe: () => forEver(),
      toFormatted: () => [],
    });
    const closed = new Promise((resolve) =>
      client.on('closed', (event) => {
        resolve((event as { code: number }).code);
      }),
    );
    const answer = client.iterate({ query: '{ slow }' });
    const first = answer.next();
    await inHand;
    const closing = door.close();
    release();
    expect((await first).value).toEqual({ data: { slow: 1 } });
    await closing;
    // It may have been closed by the client, which had nothing more to wait for.
    expect([1000, 1001]).toContain(await closed);
  });

  it('releases every subscription', async () => {
    const returned: number[] = [];
    const client = await start({
      runOnce: () => forEver(),
      subscribe: () => forEver(() => returned.push(1)),
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
    await door.close();
    expect(await Promise.all(endings)).toEqual(Array(10).fill(1001));
    expect(returned).toHaveLength(10);
  });
});

it('a peer that does not answer pings is let go, one that does is kept', () => {
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
    for (const socket of [dead, alive])
      carry(makeServer({ connectionInitWaitTimeout: 0 }), socket as unknown as WebSocket, { extra: {}, log });
    jest.advanceTimersByTime(40_000);
    expect([dead.ping.mock.calls.length, alive.ping.mock.calls.length]).toEqual([1, 3]);
    expect([dead.terminate.mock.calls.length > 0, alive.terminate.mock.calls.length > 0]).toEqual([true, false]);
    for (const socket of [dead, alive]) socket.emit('close', 1000, Buffer.from(''));
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

/** Gives one result, and then nothing until it is told to return. */
function forEver(onReturn: () => void = () => undefined): Results {
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
