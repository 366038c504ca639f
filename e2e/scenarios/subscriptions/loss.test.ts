/** A subgraph that is lost, reconnects or does not respond: its subscriptions continue or end with an error. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebSocket } from 'ws';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { ScriptedSource, shipOf, sendEvent } from '../../stack/federation/scripted-source.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
const subscribe = (client: SocketClient, query = ARRIVALS) => {
  client.send({ id: '1', type: 'subscribe', payload: { query } });
};

describe('a subgraph without positions', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(harbours.sources);
  });
  afterAll(() => federation.stop());

  it('ends 200 subscriptions with an error and `complete` when it is lost; a new one is served', async () => {
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

  it('keeps its streams when another subgraph of the events is lost, whose fields get errors', async () => {
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

// Without short limits of time: it takes a busy machine a while to send a large event.
describe('a subgraph that sends a large event', () => {
  const source = new ScriptedSource();
  let federation: Federation;
  beforeAll(async () => {
    await source.listen();
    federation = await startFederation(harbours.sources, { env: { SUBGRAPH_WS_URL_HARBOURS: source.url, PING_INTERVAL_MS: '60000' } });
  });
  afterAll(async () => {
    await federation.stop();
    await source.close();
  });

  it('ends only the subscription of an event of more than 32 MiB, and is not asked for this event again', async () => {
    const ids: string[] = [];
    const sent = new Promise<WebSocket>((resolve) => {
      source.serve = ({ id, socket }) => {
        sendEvent(socket, { id, position: 70 });
        if (ids.push(id) === 2) resolve(socket);
      };
    });
    const client = await openSocket(federation.url);
    subscribe(client);
    client.send({ id: '2', type: 'subscribe', payload: { query: 'subscription { arrived { id } }' } });
    const socket = await sent;
    const [first = '', second = ''] = ids;
    sendEvent(socket, { id: first, position: 71, ship: 71, padding: 'x'.repeat(33 * 1024 * 1024) });
    sendEvent(socket, { id: second, position: 71, ship: 71 });
    expect(await client.next()).toMatchObject({ id: '1', payload: { errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] } });
    expect(await client.next()).toEqual({ id: '1', type: 'complete' });
    expect(await client.next()).toMatchObject({ id: '2', payload: { data: { arrived: { id: 's71' } } } });
    expect(source.asked).toEqual([undefined, undefined]);
    await client.close();
  });
});

describe('a subgraph with positions', () => {
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

  it('is asked for the events after the last position, so that each event is sent once', async () => {
    source.serve = ({ id, after, socket }) => {
      const from = Number(after ?? 10);
      sendEvent(socket, { id, position: from });
      for (let ship = from + 1; ship <= from + 3; ship++) sendEvent(socket, { id, position: ship, ship });
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

  it('is reconnected to from the position of the subscription', async () => {
    source.serve = ({ id, after, socket }) => {
      sendEvent(socket, { id, position: 40 });
      if (after !== undefined) sendEvent(socket, { id, position: 41, ship: 41 });
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

  it('is given up after the configured time, with an error for the client', async () => {
    source.serve = ({ id, socket }) => {
      sendEvent(socket, { id, position: 50 });
      sendEvent(socket, { id, position: 51, ship: 51 });
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

  it('counts as lost when it answers no ping', async () => {
    source.serve = ({ id, after, socket }) => {
      sendEvent(socket, { id, position: 80 });
      if (after === undefined) source.isSilent = true;
      else sendEvent(socket, { id, position: 81, ship: 81 });
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(() => Promise.resolve(source.asked.length === 2));
    source.isSilent = false;
    expect(shipOf(await client.next())).toBe('s81');
    expect(source.asked).toEqual([undefined, '80']);
    await client.close();
  });

  it('causes GONE for the client when it no longer has the events after the position', async () => {
    source.serve = ({ id, after, socket }) => {
      if (after === undefined) {
        sendEvent(socket, { id, position: 60 });
        sendEvent(socket, { id, position: 61, ship: 61 });
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

  it('causes close code 4403 when it no longer accepts the credential', async () => {
    source.serve = ({ socket }) => {
      socket.close(4403, 'Forbidden');
    };
    const client = await openSocket(federation.url, { init: { authorization: 'Basic a' } });
    subscribe(client);
    expect((await client.closed).code).toBe(4403);
  });

  it('refuses the subscription of a client without a credential, and closes no socket', async () => {
    source.serve = ({ socket }) => {
      socket.close(4403, 'Forbidden');
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(await client.next()).toMatchObject({
      id: '1',
      type: 'error',
      payload: [{ extensions: { code: 'UNAUTHORIZED', service: 'harbours' } }],
    });
    client.send({ id: '2', type: 'subscribe', payload: { query: '{ cargo }' } });
    expect((await client.next()).payload).toEqual({ data: { cargo: 'grain' } });
    await client.close();
  });

  it('causes an error, and closes no socket, when it rejects a subscription of public fields, which has no credential of any client', async () => {
    source.serve = ({ socket }) => {
      socket.close(4403, 'Forbidden');
    };
    const clients = await Promise.all(['a', 'b'].map((name) => openSocket(federation.url, { init: { authorization: `Basic ${name}` } })));
    for (const client of clients) subscribe(client, 'subscription { seen { id name } }');
    for (const client of clients) {
      expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'harbours' } }] });
      expect((await client.next()).type).toBe('complete');
      // The socket serves further operations.
      client.send({ id: '2', type: 'subscribe', payload: { query: '{ cargo }' } });
      expect((await client.next()).payload).toEqual({ data: { cargo: 'grain' } });
      await client.close();
    }
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
  ])('causes an error for the client when it %s before its first position', async (_, act) => {
    source.serve = ({ socket }) => {
      act(socket);
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect((await client.next()).payload).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] });
    await client.close();
  });

  it('completes the subscription of the client when it completes its own', async () => {
    source.serve = ({ id, socket }) => {
      sendEvent(socket, { id, position: 70 });
      sendEvent(socket, { id, position: 71, ship: 71 });
      socket.send(JSON.stringify({ id, type: 'complete' }));
    };
    const client = await openSocket(federation.url);
    subscribe(client);
    expect(shipOf(await client.next())).toBe('s71');
    expect(await client.next()).toEqual({ id: '1', type: 'complete' });
    await client.close();
  });
});
