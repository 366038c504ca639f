/** What happens to subscriptions when the schema changes and when the gateway goes down. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, compose, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
const ship = (n: number) => ({ id: `s${String(n)}`, name: `Ship ${String(n)}` });
const subscribe = (client: SocketClient, query = ARRIVALS, id = '1') => {
  client.send({ id, type: 'subscribe', payload: { query } });
};
const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));

describe('a new supergraph', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(harbours.sources);
  });
  afterAll(() => federation.stop());

  const hash = async () =>
    ((await request(`${federation.gateway.url}/readyz`, { method: 'GET' })).body as { supergraph: string }).supergraph;
  const replace = async (sdl: string) => {
    const before = await hash();
    await federation.replaceSupergraph(sdl);
    await until(async () => (await hash()) !== before);
  };

  it('keeps the source stream of a subscription that it does not change, and executes events by the new plan', async () => {
    const client = await openSocket(federation.url);
    subscribe(client);
    await listening(1);
    arrivals.publish(ship(1));
    await client.next();
    const sources = federation.received.filter(({ query }) => query.startsWith('subscription')).length;
    // `cargo` is another subgraph's from now on: the same answer by another way.
    const moved = federation.supergraphSdl.replace(
      'cargo: String @join__field(graph: CARGOES)',
      'cargo: String @join__field(graph: CARGOES) @deprecated',
    );
    expect(moved).not.toBe(federation.supergraphSdl);
    await replace(moved);
    for (let n = 2; n < 10; n++) {
      arrivals.publish(ship(n));
      expect((await client.next()).payload).toEqual({ data: { arrived: { ...ship(n), cargo: `cargo of s${String(n)}` } } });
    }
    expect(federation.received.filter(({ query }) => query.startsWith('subscription')).length).toBe(sources);
    await client.close();
    await listening(0);
  });

  it('ends only the subscriptions that it no longer contains, with SUBSCRIPTION_SCHEMA_RELOAD', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, ARRIVALS, 'kept');
    subscribe(client, 'subscription { seen { id } }', 'lost');
    await listening(2);
    const { cargoes, harbours: first } = harbours.sources as unknown as Record<'cargoes' | 'harbours', { sdl: string }>;
    const sdl = { cargoes, harbours: { sdl: first.sdl.replace('seen: Ship @tag(name: "public")', '') } };
    const urls: Record<string, string> = Object.fromEntries(
      [...federation.supergraphSdl.matchAll(/@join__graph\(name: "(\w+)", url: "(\S+)"\)/g)].map(([, name = '', url = '']) => [name, url]),
    );
    await federation.replaceSupergraph(await compose(sdl, urls));
    const end = await client.next();
    expect(end).toMatchObject({ id: 'lost', type: 'next', payload: { errors: [{ extensions: { code: 'SUBSCRIPTION_SCHEMA_RELOAD' } }] } });
    expect(await client.next()).toEqual({ id: 'lost', type: 'complete' });
    // A client that gets the error finds the new schema.
    subscribe(client, 'subscription { seen { id } }', 'again');
    expect(await client.next()).toMatchObject({ id: 'again', type: 'error', payload: [{ extensions: { code: 'VALIDATION_ERROR' } }] });
    arrivals.publish(ship(20));
    expect(await client.next()).toMatchObject({ id: 'kept', payload: { data: { arrived: { id: 's20' } } } });
    await client.close();
    await listening(0);
  });

  it('neither loses nor repeats events that arrive during the change', async () => {
    const client = await openSocket(federation.url);
    subscribe(client);
    await listening(1);
    let said = 100;
    const load = { isOver: false };
    const ids: (string | undefined)[] = [];
    const running = (async () => {
      while (!load.isOver) {
        for (let n = 0; n < 20; n++) arrivals.publish(ship(said++));
        for (let n = 0; n < 20; n++) ids.push(idOf((await client.next()).payload));
      }
    })();
    for (let n = 0; n < 3; n++) await replace(`${federation.supergraphSdl}\n# ${String(n)}`);
    load.isOver = true;
    await running;
    expect(ids).toEqual(Array.from({ length: said - 100 }, (_, n) => `s${String(n + 100)}`));
    await client.close();
    await listening(0);
  });

  it('keeps subscriptions of more documents than the planner has room for', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => openSocket(federation.url)));
    for (const [i, client] of clients.entries()) {
      for (let n = 0; n < 100; n++) subscribe(client, `subscription { s${String(i * 100 + n)}: arrived { id cargo } }`, String(n));
      await listening(100 * (i + 1));
    }
    const deprecated = 'cargo: String @join__field(graph: CARGOES) @deprecated(reason: "Many documents")';
    await replace(federation.supergraphSdl.replace('cargo: String @join__field(graph: CARGOES)', deprecated));
    // What is planned by then is known to be kept, and the others follow.
    const socket = await openSocket(federation.url);
    subscribe(socket, 'subscription { last: arrived { id } }');
    await listening(601);
    arrivals.publish(ship(1));
    for (const client of clients)
      for (let n = 0; n < 100; n++) expect((await client.next()).payload).toEqual({ data: expect.objectContaining({}) });
    await Promise.all([socket, ...clients].map((client) => client.close()));
    await listening(0);
  });
});

const idOf = (payload: unknown) => (payload as { data?: { arrived?: { id: string } } } | undefined)?.data?.arrived?.id;

describe('a gateway that stops', () => {
  let federation: Federation;
  afterEach(() => federation.stop());

  it('delivers received events, closes sockets with 1001 over the configured time, accepts no client, and ends within 3 s', async () => {
    federation = await startFederation(harbours.sources, { env: { SUBSCRIPTION_DRAIN_MS: '500' } });
    const clients = await Promise.all(Array.from({ length: 50 }, () => openSocket(federation.url)));
    for (const client of clients) subscribe(client);
    await listening(1);
    // An event whose fetches are in flight when the process gets the signal.
    let release: () => void = () => undefined;
    const isHeld = new Promise<void>((resolve) => {
      federation.intercept = () => {
        resolve();
        return new Promise(
          (answer) =>
            (release = () => {
              answer(undefined);
            }),
        );
      };
    });
    arrivals.publish(ship(1));
    await isHeld;
    const started = performance.now();
    const gone = federation.gateway.end('SIGTERM');
    await until(() =>
      openSocket(federation.url).then(
        () => false,
        () => true,
      ),
    );
    release();
    const closes = await Promise.all(
      clients.map(async (client) => {
        expect((await client.next()).payload).toMatchObject({ data: { arrived: { id: 's1', cargo: 'cargo of s1' } } });
        return { ...(await client.closed), at: performance.now() };
      }),
    );
    for (const { code, reason } of closes) expect({ code, reason }).toEqual({ code: 1001, reason: 'Going away' });
    await gone;
    expect(performance.now() - started).toBeLessThan(3000);
    await listening(0);
  });

  it('closes event streams without `complete`, so that clients reconnect, and sends an error in multipart responses', async () => {
    federation = await startFederation(harbours.sources, { env: { SUBSCRIPTION_DRAIN_MS: '100' } });
    const events = await openEventStream(federation.url, { query: ARRIVALS });
    const parts = await openEventStream(federation.url, {
      query: ARRIVALS,
      accept: 'multipart/mixed;subscriptionSpec=1.0, application/json',
    });
    await listening(1);
    arrivals.publish(ship(1));
    await until(() => Promise.resolve(events.events.length === 1 && parts.text.includes('cargo of s1')));
    await federation.gateway.end('SIGTERM');
    await until(() => Promise.resolve(events.isOver && parts.isOver));
    expect(events.events.map(({ event }) => event)).toEqual(['next']);
    expect(parts.text).toMatch(/"payload":null,"errors":\[\{.*"code":"SERVICE_UNAVAILABLE".*\r\n--graphql--\r\n$/s);
  });

  it('sends the result of an operation of single connection mode that is executed meanwhile', async () => {
    federation = await startFederation(harbours.sources, { env: { SUBSCRIPTION_DRAIN_MS: '0', REQUEST_DRAIN_MS: '10000' } });
    const token = (await request(federation.url, { method: 'PUT' })).text;
    const stream = await openEventStream(`${federation.url}?token=${token}`, {});
    let release: (() => void) | undefined;
    federation.intercept = () =>
      new Promise((answer) => {
        release = () => {
          answer(undefined);
        };
      });
    const sent = request(federation.url, {
      method: 'POST',
      body: { query: '{ cargo }', extensions: { operationId: 'a' } },
      headers: { 'x-graphql-event-stream-token': token },
    });
    await until(() => Promise.resolve(release !== undefined));
    // Its response is ended when the drain has begun.
    const idle = await openEventStream(federation.url, { query: ARRIVALS });
    const gone = federation.gateway.end('SIGTERM');
    await until(() => Promise.resolve(idle.isOver));
    release?.();
    expect((await sent).status).toBe(202);
    await until(() => Promise.resolve(stream.isOver));
    expect(stream.events).toEqual([
      { event: 'next', data: { id: 'a', payload: { data: { cargo: 'grain' } } } },
      { event: 'complete', data: { id: 'a' } },
    ]);
    await gone;
  });

  it('does not wait for a client that does not read', async () => {
    federation = await startFederation(harbours.sources, { env: { SUBSCRIPTION_DRAIN_MS: '100' } });
    const client = await openSocket(federation.url);
    subscribe(client);
    await listening(1);
    client.socket.pause();
    const started = performance.now();
    await federation.gateway.end('SIGTERM');
    expect(performance.now() - started).toBeLessThan(3000);
    client.socket.terminate();
  });
});
