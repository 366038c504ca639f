/** A subgraph that goes away, comes back, or says nothing: whoever listens goes on or is told. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer, type WebSocket } from 'ws';
import { until } from '../../stack/client.ts';
import { type Federation, startFederation } from '../../stack/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/harbours.ts';
import { type SocketClient, openSocket } from '../../stack/socket-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
const subscribe = (client: SocketClient, query = ARRIVALS) => {
  client.send({ id: '1', type: 'subscribe', payload: { query } });
};

describe('a subgraph that tells no positions', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(harbours.sources);
  });
  afterAll(() => federation.stop());

  it('when it is lost, 200 subscribers are each told so, then complete; and one who comes again goes on', async () => {
    const clients = await Promise.all(
      Array.from({ length: 200 }, (_, i) => openSocket(federation.url, { init: { authorization: `Basic ${String(i % 20)}` } })),
    );
    for (const client of clients) subscribe(client);
    await until(() => Promise.resolve(arrivals.listeners === 20));
    await federation.halt('harbours');
    for (const client of clients) {
      expect(await client.next()).toEqual({
        id: '1',
        type: 'next',
        payload: {
          errors: [
            {
              message: 'The subgraph harbours was lost: events may have been missed',
              extensions: { code: 'UPSTREAM_ERROR', service: 'harbours', requestId: expect.any(String) },
            },
          ],
        },
      });
      expect(await client.next()).toEqual({ id: '1', type: 'complete' });
    }
    // Asked for while it is away, a subscription is refused in the same way.
    const [client] = clients as [SocketClient];
    subscribe(client);
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] });
    expect((await client.next()).type).toBe('complete');
    await federation.revive('harbours');
    subscribe(client);
    await until(() => Promise.resolve(arrivals.listeners === 1));
    arrivals.publish({ id: 's1', name: 'One' });
    expect((await client.next()).payload).toMatchObject({ data: { arrived: { id: 's1', cargo: 'cargo of s1' } } });
    await Promise.all(clients.map((each) => each.close()));
  });

  it('when another one is lost that events are completed by, events come with errors and the stream goes on', async () => {
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(arrivals.listeners === 1));
    await federation.halt('cargoes');
    arrivals.publish({ id: 's1', name: 'One' });
    expect((await client.next()).payload).toMatchObject({ data: { arrived: { id: 's1', cargo: null } }, errors: [{ path: ['arrived'] }] });
    await federation.revive('cargoes');
    await until(async () => {
      arrivals.publish({ id: 's2', name: 'Two' });
      return ((await client.next()).payload as { errors?: unknown }).errors === undefined;
    });
    await client.close();
  });
});

/** A subgraph of which the test says every word. */
describe('a subgraph that tells positions', () => {
  let server: WebSocketServer;
  let port = 0;
  let federation: Federation;
  /** What it does with each `subscribe`, given what the gateway has. */
  let serve: (said: { id: string; after: string | undefined; socket: WebSocket }) => void;
  const asked: (string | undefined)[] = [];
  /** Whether it answers no pings, as a machine that was cut off. */
  let isSilent = false;

  const listen = async () => {
    server = new WebSocketServer({ port, host: '127.0.0.1', handleProtocols: () => 'graphql-transport-ws', autoPong: false });
    await new Promise((resolve) => server.once('listening', resolve));
    ({ port } = server.address() as AddressInfo);
    server.on('connection', (socket) => {
      socket.on('ping', (data) => {
        if (!isSilent) socket.pong(data);
      });
      socket.on('message', (data: Buffer) => {
        const { id, type, payload } = JSON.parse(data.toString()) as {
          id: string;
          type: string;
          payload?: { extensions?: { resume?: { after?: string } } };
        };
        if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
        if (type !== 'subscribe') return;
        expect(payload?.extensions?.resume).toBeDefined();
        const after = payload?.extensions?.resume?.after;
        asked.push(after);
        serve({ id, after, socket });
      });
    });
  };
  const close = async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const tell = (socket: WebSocket, { id, position, ship }: { id: string; position?: number; ship?: number }) => {
    const data = ship === undefined ? null : { arrived: { id: `s${String(ship)}`, name: 'Ship', __typename: 'Ship' } };
    socket.send(
      JSON.stringify({
        id,
        type: 'next',
        payload: { data, ...(position !== undefined && { extensions: { position: String(position) } }) },
      }),
    );
  };
  const shipOf = ({ payload }: { payload?: unknown }) => (payload as { data: { arrived: { id: string } } }).data.arrived.id;

  beforeAll(async () => {
    await listen();
    federation = await startFederation(harbours.sources, {
      env: { SUBGRAPH_WS_URL_HARBOURS: `ws://127.0.0.1:${String(port)}/`, SUBSCRIPTION_RECONNECT_MS: '600', PING_INTERVAL_MS: '300' },
    });
  });
  beforeEach(() => {
    asked.length = 0;
  });
  afterAll(async () => {
    await federation.stop();
    await close();
  });

  it('is asked for what came after the last position, so that nothing is missed and nothing comes twice', async () => {
    serve = ({ id, after, socket }) => {
      const from = Number(after ?? 10);
      tell(socket, { id, position: from });
      for (let ship = from + 1; ship <= from + 3; ship++) tell(socket, { id, position: ship, ship });
      // Three events, then the connection is gone.
      if (from < 19) socket.terminate();
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    for (let ship = 11; ship <= 22; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    expect(asked).toEqual([undefined, '13', '16', '19']);
    expect(client.waiting).toEqual([]);
    await client.close();
  });

  it('is looked for while it is away, from the position at which it was subscribed to', async () => {
    serve = ({ id, after, socket }) => {
      tell(socket, { id, position: 40 });
      if (after !== undefined) tell(socket, { id, position: 41, ship: 41 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(asked.length === 1));
    // The position has been read once the gateway answers something that was asked for after it.
    client.send({ id: 'q', type: 'subscribe', payload: { query: '{ ships { id } }' } });
    await client.next(({ type }) => type === 'complete');
    await close();
    await listen();
    expect(shipOf(await client.next())).toBe('s41');
    expect(asked).toEqual([undefined, '40']);
    await client.close();
  });

  it('that stays away is given up after the time that is set, and the client is told', async () => {
    serve = ({ id, socket }) => {
      tell(socket, { id, position: 50 });
      tell(socket, { id, position: 51, ship: 51 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(shipOf(await client.next())).toBe('s51');
    await close();
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'harbours' } }] });
    expect((await client.next()).type).toBe('complete');
    await client.close();
    await listen();
  });

  it('that gives no sign of life is lost like one that has gone', async () => {
    serve = ({ id, after, socket }) => {
      tell(socket, { id, position: 80 });
      if (after === undefined) isSilent = true;
      else tell(socket, { id, position: 81, ship: 81 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(asked.length === 2));
    isSilent = false;
    expect(shipOf(await client.next())).toBe('s81');
    expect(asked).toEqual([undefined, '80']);
    await client.close();
  });

  it('that no longer has what came after is told to the client as GONE', async () => {
    serve = ({ id, after, socket }) => {
      if (after === undefined) {
        tell(socket, { id, position: 60 });
        tell(socket, { id, position: 61, ship: 61 });
        setImmediate(() => {
          socket.terminate();
        });
      } else socket.send(JSON.stringify({ id, type: 'error', payload: [{ message: 'Too long ago', extensions: { code: 'GONE' } }] }));
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(shipOf(await client.next())).toBe('s61');
    expect(await client.next()).toMatchObject({ type: 'error', payload: [{ message: 'Too long ago', extensions: { code: 'GONE' } }] });
    await client.close();
  });

  it('that no longer takes the credential closes the socket with 4403', async () => {
    serve = ({ socket }) => {
      socket.close(4403, 'Forbidden');
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect((await client.closed).code).toBe(4403);
  });

  it.each([
    [
      'speaks no GraphQL',
      (socket: WebSocket) => {
        socket.send('{"type":');
      },
    ],
    [
      'goes without a word',
      (socket: WebSocket) => {
        socket.close(1000);
      },
    ],
  ])('that %s before it has told a position is told to the client', async (_, act) => {
    serve = ({ socket }) => {
      act(socket);
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] });
    await client.close();
  });

  it('that completes completes for the client', async () => {
    serve = ({ id, socket }) => {
      tell(socket, { id, position: 70 });
      tell(socket, { id, position: 71, ship: 71 });
      socket.send(JSON.stringify({ id, type: 'complete' }));
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(shipOf(await client.next())).toBe('s71');
    expect(await client.next()).toEqual({ id: '1', type: 'complete' });
    await client.close();
  });

  /** Subscribes while nothing can be completed, and lets it go on once so many events have come. */
  const subscribeHeld = async (count: number) => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    federation.intercept = () => held.then(() => undefined);
    const metric = async () => /events_received_total (\d+)/.exec(await (await fetch(`${federation.gateway.url}/metrics`)).text())?.[1];
    const before = Number(await metric());
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(async () => Number(await metric()) >= before + count);
    federation.intercept = undefined;
    release();
    return client;
  };

  it('that is faster than events can be completed is asked to wait, and nothing is missed', async () => {
    serve = ({ id, after, socket }) => {
      const from = Number(after ?? 100);
      tell(socket, { id, position: from });
      for (let ship = from + 1; ship < 2500; ship++) tell(socket, { id, position: ship, ship });
    };
    const client = await subscribeHeld(999);
    for (let ship = 101; ship < 2500; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    expect(asked.length).toBeGreaterThan(1);
    expect(client.waiting).toEqual([]);
    await client.close();
  });

  it('that tells very much to many at once takes no more room than there is, and each is told all of it', async () => {
    const [last, count] = [1500, 12];
    serve = ({ id, after, socket }) => {
      const from = Number(after ?? 100);
      tell(socket, { id, position: from });
      for (let ship = from + 1; ship <= last; ship++) tell(socket, { id, position: ship, ship });
    };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    federation.intercept = () => held.then(() => undefined);
    const clients = await Promise.all(Array.from({ length: count }, () => openSocket(federation.url)));
    // Each something else, so that nobody shares.
    clients.forEach((client, i) => {
      client.send({ id: '1', type: 'subscribe', payload: { query: `subscription { arrived { id cargo${String(i)}: cargo } }` } });
    });
    const waiting = async () => /events_waiting (\d+)/.exec(await (await fetch(`${federation.gateway.url}/metrics`)).text())?.[1];
    await until(async () => asked.length === count && Number(await waiting()) >= 5000);
    // What one has still to be told goes with him.
    await clients.pop()?.close();
    federation.intercept = undefined;
    release();
    const state = { isOver: false };
    const read = clients.map(async (client) => {
      for (let ship = 101; ship <= last; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    });
    const most = { seen: 0 };
    const watching = (async () => {
      while (!state.isOver) most.seen = Math.max(most.seen, Number(await waiting()));
    })();
    await Promise.all(read);
    state.isOver = true;
    await watching;
    // A few more for each of them: what was on its way already.
    expect(most.seen).toBeLessThan(5000 + count * 100);
    await Promise.all(clients.map((client) => client.close()));
    await until(async () => Number(await waiting()) === 0);
  });

  it('that is faster than events can be completed, and tells no positions, is ended, and the client is told', async () => {
    serve = ({ id, socket }) => {
      for (let ship = 101; ship < 1500; ship++) tell(socket, { id, ship });
    };
    const client = await subscribeHeld(1000);
    const end = await client.next(({ payload }) => (payload as { errors?: unknown } | undefined)?.errors !== undefined);
    expect(end.payload).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    await client.close();
  });
});
