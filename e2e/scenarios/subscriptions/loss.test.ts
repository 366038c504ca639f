/** A subgraph that goes away, comes back, or says nothing: whoever listens goes on or is told. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebSocket } from 'ws';
import { until } from '../../stack/client.ts';
import { type Federation, startFederation } from '../../stack/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/harbours.ts';
import { ScriptedSource, shipOf, tell } from '../../stack/scripted-source.ts';
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
              message: 'The connection to the subgraph harbours was lost. Events may have been missed.',
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
    expect((await client.next()).payload).toMatchObject({
      data: { arrived: { id: 's1', cargo: null } },
      errors: [{ path: ['arrived', 'cargo'] }],
    });
    await federation.revive('cargoes');
    await until(async () => {
      arrivals.publish({ id: 's2', name: 'Two' });
      return ((await client.next()).payload as { errors?: unknown }).errors === undefined;
    });
    await client.close();
  });
});

describe('a subgraph that tells positions', () => {
  const source = new ScriptedSource();
  let federation: Federation;
  beforeAll(async () => {
    await source.listen();
    federation = await startFederation(harbours.sources, {
      env: { SUBGRAPH_WS_URL_HARBOURS: source.url, SUBSCRIPTION_RECONNECT_MS: '600', PING_INTERVAL_MS: '300' },
    });
  });
  beforeEach(() => {
    source.asked.length = 0;
  });
  afterAll(async () => {
    await federation.stop();
    await source.close();
  });

  it('is asked for what came after the last position, so that nothing is missed and nothing comes twice', async () => {
    source.serve = ({ id, after, socket }) => {
      const from = Number(after ?? 10);
      tell(socket, { id, position: from });
      for (let ship = from + 1; ship <= from + 3; ship++) tell(socket, { id, position: ship, ship });
      // Three events, then the connection is gone.
      if (from < 19) socket.terminate();
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    for (let ship = 11; ship <= 22; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    expect(source.asked).toEqual([undefined, '13', '16', '19']);
    expect(client.waiting).toEqual([]);
    await client.close();
  });

  it('is looked for while it is away, from the position at which it was subscribed to', async () => {
    source.serve = ({ id, after, socket }) => {
      tell(socket, { id, position: 40 });
      if (after !== undefined) tell(socket, { id, position: 41, ship: 41 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(source.asked.length === 1));
    // The position has been read once the gateway answers something that was source.asked for after it.
    client.send({ id: 'q', type: 'subscribe', payload: { query: '{ ships { id } }' } });
    await client.next(({ type }) => type === 'complete');
    await source.close();
    await source.listen();
    expect(shipOf(await client.next())).toBe('s41');
    expect(source.asked).toEqual([undefined, '40']);
    await client.close();
  });

  it('that stays away is given up after the time that is set, and the client is told', async () => {
    source.serve = ({ id, socket }) => {
      tell(socket, { id, position: 50 });
      tell(socket, { id, position: 51, ship: 51 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(shipOf(await client.next())).toBe('s51');
    await source.close();
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'harbours' } }] });
    expect((await client.next()).type).toBe('complete');
    await client.close();
    await source.listen();
  });

  it('that gives no sign of life is lost like one that has gone', async () => {
    source.serve = ({ id, after, socket }) => {
      tell(socket, { id, position: 80 });
      if (after === undefined) source.isSilent = true;
      else tell(socket, { id, position: 81, ship: 81 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(source.asked.length === 2));
    source.isSilent = false;
    expect(shipOf(await client.next())).toBe('s81');
    expect(source.asked).toEqual([undefined, '80']);
    await client.close();
  });

  it('that no longer has what came after is told to the client as GONE', async () => {
    source.serve = ({ id, after, socket }) => {
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
    source.serve = ({ socket }) => {
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
    source.serve = ({ socket }) => {
      act(socket);
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] });
    await client.close();
  });

  it('that completes completes for the client', async () => {
    source.serve = ({ id, socket }) => {
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
});
