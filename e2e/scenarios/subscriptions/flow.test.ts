/** A subgraph that sends events faster than the gateway can execute them: the gateway pauses it when no event is lost by that. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { ScriptedSource, shipOf, sendEvent } from '../../stack/federation/scripted-source.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const source = new ScriptedSource();
let federation: Federation;
beforeAll(async () => {
  await source.listen();
  federation = await startFederation(createHarbours().sources, { env: { SUBGRAPH_WS_URL_HARBOURS: source.url } });
});
beforeEach(() => {
  source.asked.length = 0;
});
afterAll(async () => {
  await federation.stop();
  await source.close();
});

const subscribe = (client: SocketClient, query = ARRIVALS) => {
  client.send({ id: '1', type: 'subscribe', payload: { query } });
};

const RECEIVED = 'trestle_subscription_events_received_total';
const WAITING = 'trestle_subscription_events_waiting';
const metric = (name: string) => readMetric(federation.gateway.url, name);

/** Holds the fetches of the gateway until the returned function is called. */
const hold = (): (() => void) => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  federation.intercept = () => held.then(() => undefined);
  return () => {
    federation.intercept = undefined;
    release();
  };
};

/** Sends all ships after the requested position up to the last one at once; with `counts` no more than are requested. `padding` makes events larger. */
const sendUpTo = (last: number, { counts, padding = '' }: { counts: boolean; padding?: string }) => {
  source.serve = ({ id, after, first = Infinity, socket }) => {
    const from = Number(after ?? 100);
    const to = counts ? Math.min(last, from + first) : last;
    sendEvent(socket, { id, position: from });
    for (let ship = from + 1; ship <= to; ship++) sendEvent(socket, { id, position: ship, ship, padding });
    if (to < last) socket.send(JSON.stringify({ id, type: 'complete' }));
  };
};

describe('a subgraph with subscriptions', () => {
  it('is paused when it sends events faster than they are executed, and no event is lost', async () => {
    sendUpTo(1600, { counts: false });
    const release = hold();
    const client = await openSocket(federation.url);
    subscribe(client);
    await until(async () => (await metric(WAITING)) >= 1000);
    release();
    for (let ship = 101; ship <= 1600; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    expect(source.asked.length).toBeGreaterThan(1);
    expect(client.waiting).toEqual([]);
    await client.close();
  });

  it('is paused when its events take too many bytes until they are executed, and no event is lost', async () => {
    sendUpTo(200, { counts: false, padding: 'x'.repeat(1024 * 1024) });
    const release = hold();
    const client = await openSocket(federation.url);
    subscribe(client);
    // It is paused at 64 MiB, and asked to go on once half of them are sent.
    await until(async () => (await metric(WAITING)) >= 64);
    expect(await metric(WAITING)).toBeLessThan(70);
    expect(source.asked).toHaveLength(1);
    release();
    for (let ship = 101; ship <= 200; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
    expect(source.asked.length).toBeGreaterThan(1);
    await client.close();
  });

  it('is asked for missed events of many clients by pages, and for no more than the gateway may buffer', async () => {
    // Two pages for each client.
    const last = 420;
    sendUpTo(last, { counts: true });
    const after = Buffer.from('["harbours","100"]').toString('base64url');
    const clients: SocketClient[] = [];
    const connect = async () => {
      const client = await openSocket(federation.url);
      // Each has another selection, so that none share a source stream.
      const query = `subscription { arrived { id cargo${String(clients.push(client))}: cargo } }`;
      client.send({ id: '1', type: 'subscribe', payload: { query, extensions: { resume: { after } } } });
    };
    const release = hold();
    while (clients.length < 25) await connect();
    await until(async () => (await metric(WAITING)) >= 5000);
    const asked = source.asked.length;
    while (clients.length < 35) await connect();
    // The subscription has been processed when a later message is answered.
    const lastClient = clients.at(-1) as SocketClient;
    lastClient.send({ type: 'ping' });
    await lastClient.next(({ type }) => type === 'pong');
    expect([asked, source.asked.length]).toEqual([25, 25]);
    // Events that wait for a client are discarded when it disconnects.
    await clients.shift()?.close();
    release();
    await Promise.all(
      clients.map(async (client) => {
        expect((await client.next()).payload).toEqual({ data: null, extensions: { position: after } });
        for (let ship = 101; ship <= last; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
      }),
    );
    await Promise.all(clients.map((client) => client.close()));
    await until(async () => (await metric(WAITING)) === 0);
  });

  it('is unsubscribed with an error for the client when it is too fast and sends no positions', async () => {
    source.serve = ({ id, socket }) => {
      for (let ship = 101; ship < 1500; ship++) sendEvent(socket, { id, ship });
    };
    const release = hold();
    const client = await openSocket(federation.url);
    const before = await metric(RECEIVED);
    subscribe(client);
    await until(async () => (await metric(RECEIVED)) >= before + 1000);
    release();
    const end = await client.next(({ payload }) => (payload as { errors?: unknown } | undefined)?.errors !== undefined);
    expect(end.payload).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    await client.close();
  });
});
