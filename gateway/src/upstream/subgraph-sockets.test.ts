/** Against a real graphql-ws server. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { type LiveSockets, createLiveSockets } from './subgraph-sockets.ts';

let server: WebSocketServer;
let sockets: LiveSockets;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
  const said = async function* () {
    yield { tick: 1 };
    await new Promise(() => undefined);
  };
  useServer(
    { schema: buildSchema('type Query { a: Int } type Subscription { tick: Int }'), roots: { subscription: { tick: said } } },
    server,
  );
  sockets = createLiveSockets({ pingIntervalMs: 10_000 });
});
afterEach(async () => {
  sockets.close();
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

/** Resolves with the first event of each. */
const subscribe = (identities: readonly (readonly string[])[]) => {
  const live = sockets.open(url);
  const payload = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };
  return Promise.all(
    identities.map(
      (identity) =>
        new Promise((resolve, reject) => {
          const fail = () => {
            reject(new Error('There was no event'));
          };
          live.subscribe({ identity, requestId: 'r', payload }, { next: resolve, refused: fail, complete: fail, lost: fail });
        }),
    ),
  );
};

describe('sockets to a subgraph', () => {
  it('are one for each identity', async () => {
    await subscribe([[], [], ['authorization', 'Bearer a'], ['authorization', 'Bearer a'], ['authorization', 'Bearer b']]);
    expect(server.clients.size).toBe(3);
  });

  it('are more where one would carry more than 500', async () => {
    await subscribe(Array.from({ length: 1100 }, () => []));
    expect(server.clients.size).toBe(3);
  });
});
