/** Against a real graphql-ws server. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { createSubgraphSockets } from './subgraph-sockets.ts';
import type { SubscriptionPool } from './subscription-upstream.ts';

let server: WebSocketServer;
let sockets: SubscriptionPool;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
  const ticks = async function* () {
    yield { tick: 1 };
    await new Promise(() => undefined);
  };
  useServer(
    {
      schema: buildSchema('type Query { a: Int } type Subscription { tick: Int }'),
      roots: { subscription: { tick: ticks } },
      // No limit of time ends a connection on a busy machine.
      connectionInitWaitTimeout: 60_000,
    },
    server,
  );
  sockets = createSubgraphSockets({ pingIntervalMs: 60_000 });
});
afterEach(async () => {
  sockets.close();
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

/** Resolves with the first event of each subscription. */
const subscribe = (identities: readonly (readonly string[])[]) => {
  const upstream = sockets.open({ name: 'ticks', url, tls: () => undefined });
  const payload = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };
  return Promise.all(
    identities.map(
      (identity) =>
        new Promise((resolve, reject) => {
          const fail = () => {
            reject(new Error('The stream ended without an event'));
          };
          upstream.subscribe({ identity, requestId: 'r', payload }, { next: resolve, refused: fail, complete: fail, lost: fail });
        }),
    ),
  );
};

describe('createSubgraphSockets', () => {
  it('opens one socket for each identity', async () => {
    await subscribe([[], [], ['authorization', 'Bearer a'], ['authorization', 'Bearer a'], ['authorization', 'Bearer b']]);
    expect(server.clients.size).toBe(3);
  });

  it('opens another socket for every 500 subscriptions of one identity', async () => {
    // One after the other: on a busy machine a new connection would wait too long for the subscriptions before it.
    for (const [count, open] of [
      [500, 1],
      [500, 2],
      [100, 3],
    ] as const) {
      await subscribe(Array.from({ length: count }, () => []));
      expect(server.clients.size).toBe(open);
    }
  });

  it('opens a socket for a large subscription alone, so that no other is lost when the subgraph refuses its size', async () => {
    server.options.maxPayload = 64 * 1024;
    const upstream = sockets.open({ name: 'ticks', url, tls: () => undefined });
    const open = (variables: object, query = 'subscription { tick }') => {
      const outcomes: string[] = [];
      const first = new Promise<string[]>((resolve) => {
        const note = (outcome: string) => () => {
          outcomes.push(outcome);
          resolve(outcomes);
        };
        const payload = { query, operationName: undefined, variables: { ...variables }, extensions: {} };
        const receiver = { next: note('next'), refused: note('refused'), complete: note('complete'), lost: note('lost') };
        upstream.subscribe({ identity: [], requestId: 'r', payload }, receiver);
      });
      return { outcomes, first };
    };
    const small = open({});
    await small.first;
    const large = open({ a: 'a'.repeat(100_000) });
    expect([await large.first, small.outcomes]).toEqual([['lost'], ['next']]);
    expect(await open({}).first).toEqual(['next']);
    expect(server.clients.size).toBe(1);
    expect(await open({}, `subscription { tick } # ${'a'.repeat(10_000)}`).first).toEqual(['next']);
    expect(server.clients.size).toBe(2);
  });

  it('opens another socket when the subgraph has begun to close the first one', async () => {
    const connected = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    await subscribe([[]]);
    const [socket, request] = await connected;
    // It says that it closes (1001, RFC 6455 §5.5.1), gets the same from the gateway, and does not end the connection.
    request.socket.end = () => request.socket;
    request.socket.write(Buffer.of(0x88, 2, 0x03, 0xe9));
    while (socket.readyState === socket.OPEN) await new Promise((resolve) => setImmediate(resolve));
    await subscribe([[]]);
    expect([server.clients.size, request.socket.destroyed]).toEqual([2, false]);
  });

  it('loses its subscriptions at once when the subgraph sends what is no message, however long the connection stays open', async () => {
    const connected = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    const ended = subscribe([[]]);
    const [socket, request] = await connected;
    socket.pause();
    socket.send('{');
    await expect(ended).rejects.toThrow('ended without an event');
    expect(request.socket.destroyed).toBe(false);
  });
});
