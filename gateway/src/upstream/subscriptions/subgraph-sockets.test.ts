/** Against a real graphql-ws server. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { createSubgraphSockets } from './subgraph-sockets.ts';
import { MAX_EVENT_BYTES, type SourceReceiver, type SubscriptionPool } from './subscription-upstream.ts';

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

  it('sends no fragment of the address', async () => {
    url += '#main';
    const connected = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    await subscribe([[]]);
    expect((await connected)[1].url).toBe('/graphql');
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

  describe('where one socket has several subscriptions', () => {
    /** Subscribes twice, and resolves with what the subscriptions get and with the socket of the server. */
    const openTwo = async () => {
      server.removeAllListeners('connection');
      const peer = new Promise<WebSocket>((resolve) => {
        let count = 0;
        server.on('connection', (socket: WebSocket) => {
          socket.on('message', (data: Buffer) => {
            const { type } = JSON.parse(data.toString()) as { type: string };
            if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
            if (type === 'subscribe' && ++count === 2) resolve(socket);
          });
        });
      });
      const upstream = sockets.open({ name: 'ticks', url, tls: () => undefined });
      const payload = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };
      const outcomes: unknown[][] = [[], []];
      let wake: () => void = () => undefined;
      for (const own of outcomes) {
        const note = (outcome: unknown) => {
          own.push(outcome);
          wake();
        };
        const receiver: SourceReceiver = {
          next: ({ data }) => {
            note(data);
          },
          refused: (errors) => {
            note(errors);
          },
          complete: () => {
            note('complete');
          },
          lost: ({ isUnauthorized, isFinal = false }) => {
            note({ isUnauthorized, isFinal });
          },
        };
        upstream.subscribe({ identity: [], requestId: 'r', payload }, receiver);
      }
      const socket = await peer;
      /** Sends a message for the first subscription and an event for the second one, and waits for it. */
      const exchange = async (...texts: string[]) => {
        for (const text of texts) socket.send(text);
        socket.send(JSON.stringify({ id: '2', type: 'next', payload: { data: { tick: 9 } } }));
        while (outcomes[1]?.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      };
      return { outcomes, socket, exchange };
    };
    const LARGE = `{"data":{"tick":1,"id":"2","text":"${'ü'.repeat(MAX_EVENT_BYTES / 2)}"}}`;

    it.each([
      ['{"id":"1","type":"next","payload":', '}'],
      ['{ "type": "next", "id": "1", "payload": ', '}'],
      ['{"id":"1","payload":', ',"type":"next"}'],
    ])('ends only that of an event of more than 32 MiB, for good: %s', async (head, tail) => {
      const { outcomes, socket, exchange } = await openTwo();
      const said = once(socket, 'message') as Promise<[Buffer]>;
      await exchange(head + LARGE + tail);
      expect(outcomes).toEqual([[{ isUnauthorized: false, isFinal: true }], [{ tick: 9 }]]);
      expect(JSON.parse((await said)[0].toString())).toEqual({ id: '1', type: 'complete' });
    });

    it('ends all where it is not known whose the large event is', async () => {
      const { outcomes, exchange } = await openTwo();
      await exchange(`{"payload":${LARGE},"id":"1","type":"next"}`);
      expect(outcomes).toEqual([[{ isUnauthorized: false, isFinal: false }], [{ isUnauthorized: false, isFinal: false }]]);
    });

    it.each<[string, unknown]>([
      ['{"id":"1","type":"next","payload":5}', { isUnauthorized: false, isFinal: false }],
      ['{"id":"1","type":"next"}', { isUnauthorized: false, isFinal: false }],
      ['{"id":"1","type":"other"}', { isUnauthorized: false, isFinal: false }],
      ['{"id":"1","type":"error","payload":[]}', [undefined]],
      ['{"id":"1","type":"error","payload":[{}]}', [{}]],
      ['{"id":"1","type":"error"}', [undefined]],
    ])('ends only that of a message that is not valid: %s', async (text, outcome) => {
      const { outcomes, exchange } = await openTwo();
      await exchange(text, text);
      expect(outcomes).toEqual([[outcome], [{ tick: 9 }]]);
    });

    it('ends all for a message that is not UTF-8', async () => {
      const { outcomes, socket, exchange } = await openTwo();
      socket.send(Buffer.from('{"id":"1","type":"next","payload":{"data":{"tick":"\xff"}}}', 'latin1'), { binary: false });
      await exchange();
      expect(outcomes).toEqual([[{ isUnauthorized: false, isFinal: false }], [{ isUnauthorized: false, isFinal: false }]]);
    });
  });
});
