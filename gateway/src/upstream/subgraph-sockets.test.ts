/** Against a real graphql-ws server. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
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
  const upstream = sockets.open('ticks', url, () => undefined);
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
});
