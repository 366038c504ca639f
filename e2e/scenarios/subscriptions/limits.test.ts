/** Limits of subscriptions, pings, metrics, and what many subscriptions leave behind. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { request, sumMetric, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { COLLECT_GARBAGE } from '../../stack/processes/process.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
let federation: Federation;
afterEach(() => federation.stop());

const start = async (env: Record<string, string> = {}) => {
  federation = await startFederation(harbours.sources, { env });
};
const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
const subscribe = (client: SocketClient, id = '1') => {
  client.send({ id, type: 'subscribe', payload: { query: ARRIVALS } });
};
const metrics = async () => (await request(`${federation.gateway.url}/metrics`, { method: 'GET' })).text;
const metric = async (name: string) =>
  Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(await metrics())?.[1] ?? NaN);

describe('the limits of a gateway', () => {
  it('reject one subscription too many of the process with an error', async () => {
    await start({ MAX_SUBSCRIPTIONS: '2' });
    const client = await openSocket(federation.url);
    for (const id of ['a', 'b', 'c']) subscribe(client, id);
    expect(await client.next()).toMatchObject({ id: 'c', type: 'error', payload: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] });
    client.send({ id: 'a', type: 'complete' });
    subscribe(client, 'd');
    await until(async () => (await metric('trestle_subscriptions_open{transport="websocket"}')) === 2);
    await client.close();
  });

  it('reject one byte too many of the operations of a socket with an error', async () => {
    await start();
    const client = await openSocket(federation.url);
    const big = `${ARRIVALS} # ${'x'.repeat(400_000)}`;
    for (const id of ['a', 'b', 'c']) client.send({ id, type: 'subscribe', payload: { query: big } });
    expect(await client.next()).toMatchObject({ id: 'c', type: 'error', payload: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] });
    // What ends makes room.
    client.send({ id: 'a', type: 'complete' });
    client.send({ id: 'd', type: 'subscribe', payload: { query: big } });
    await until(async () => (await metric('trestle_subscriptions_open{transport="websocket"}')) === 2);
    await client.close();
  });

  it('reject one socket too many of the process with 503', async () => {
    await start({ MAX_SOCKETS: '2' });
    const clients = [await openSocket(federation.url), await openSocket(federation.url)];
    await expect(openSocket(federation.url)).rejects.toThrow('503');
    await clients[0]?.close();
    await until(() => openSocket(federation.url).then((client) => client.close().then(() => true)));
    await clients[1]?.close();
  });
});

describe('too many event streams', () => {
  it('get 503, queries of the same clients do not, and they are accepted when another one has ended', async () => {
    await start({ MAX_SOCKETS: '1' });
    const stream = await openEventStream(federation.url, { query: ARRIVALS });
    const refused = await openEventStream(federation.url, { query: ARRIVALS });
    expect(refused.response.statusCode).toBe(503);
    // urql accepts streams for every operation, and prefers JSON.
    const accept = 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed';
    const query = await openEventStream(federation.url, { query: '{ cargo }', accept });
    const subscription = await openEventStream(federation.url, { query: ARRIVALS, accept });
    expect([query.response.statusCode, subscription.response.statusCode]).toEqual([200, 503]);
    stream.close();
    await until(async () => {
      const next = await openEventStream(federation.url, { query: ARRIVALS });
      next.close();
      return next.response.statusCode === 200;
    });
    await listening(0);
  });
});

it('sends the result of an operation that was begun while there was room for its response', async () => {
  await start({ MAX_SOCKETS: '1' });
  let respond = (): void => undefined;
  const isFetched = new Promise<void>((resolve) => {
    federation.intercept = ({ subgraph }) => {
      if (subgraph !== 'cargoes') return undefined;
      resolve();
      return new Promise((answer) => {
        respond = () => {
          answer(undefined);
        };
      });
    };
  });
  const running = openEventStream(federation.url, { query: '{ cargo }', accept: 'multipart/mixed' });
  await isFetched;
  const stream = await openEventStream(federation.url, { query: ARRIVALS });
  await listening(1);
  respond();
  const { response } = await running;
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, expect.stringContaining('multipart/mixed')]);
  federation.intercept = undefined;
  stream.close();
  await listening(0);
});

describe('pings', () => {
  it('close the socket of a client that does not answer them, and no other', async () => {
    await start({ PING_INTERVAL_MS: '1000' });
    const dead = new WebSocket(federation.url.replace('http', 'ws'), 'graphql-transport-ws', { autoPong: false });
    await new Promise((resolve) => dead.once('open', resolve));
    dead.send('{"type":"connection_init"}');
    const alive = await openSocket(federation.url);
    subscribe(alive);
    await new Promise((resolve) => dead.once('close', resolve));
    arrivals.publish({ id: 's1', name: 'One' });
    expect((await alive.next()).payload).toMatchObject({ data: { arrived: { id: 's1' } } });
    await alive.close();
  });
});

describe('the metrics of subscriptions', () => {
  it('count open, shared and delivered ones, delays, and the causes of their end', async () => {
    await start();
    const clients = await Promise.all([1, 2, 3].map(() => openSocket(federation.url)));
    for (const client of clients) subscribe(client);
    const stream = await openEventStream(federation.url, { query: ARRIVALS });
    await listening(1);
    arrivals.publish({ id: 's1', name: 'One' });
    for (const client of clients) await client.next();
    await until(() => Promise.resolve(stream.events.length === 1));
    expect(await metric('trestle_websockets_open')).toBe(3);
    expect(await metric('trestle_subscriptions_open{transport="websocket"}')).toBe(3);
    expect(await metric('trestle_subscriptions_open{transport="sse"}')).toBe(1);
    expect(await metric('trestle_subscription_response_streams')).toBe(1);
    expect(await metric('trestle_subscription_events_received_total')).toBe(1);
    expect(await metric('trestle_subscription_events_delivered_total')).toBe(4);
    expect(await metric('trestle_subscription_event_lag_seconds_count')).toBe(1);
    for (const client of clients) await client.close();
    stream.close();
    await until(async () => (await metric('trestle_subscriptions_ended_total{transport="websocket",cause="stopped"}')) === 3);
    await until(async () => (await metric('trestle_subscriptions_ended_total{transport="sse",cause="stopped"}')) === 1);
    expect(await metric('trestle_subscription_response_streams')).toBe(0);
  });
});

it('leaves no handle, no heap and nothing at the subgraph after 5,000 subscriptions', async () => {
  await start({ NODE_OPTIONS: COLLECT_GARBAGE.join(' ') });
  const client = await openSocket(federation.url);
  const subscribeAndComplete = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const id = String(n);
      // Each has other variables, so that none share a source stream.
      const payload = { query: 'subscription ($h: ID) { arrived(harbour: $h) { id } }', variables: { h: id } };
      client.send({ id, type: 'subscribe', payload });
      client.send({ id, type: 'complete' });
      if (n % 50 === 49) {
        client.send({ type: 'ping' });
        await client.next(({ type }) => type === 'pong');
      }
    }
    await listening(0);
    await until(async () => (await metric('trestle_subscription_response_streams')) === 0);
  };
  await subscribeAndComplete(1000);
  const handles = await sumMetric(federation.gateway.url, 'nodejs_active_handles');
  const heap = await metric('nodejs_heap_size_used_bytes');
  await subscribeAndComplete(5000);
  // The socket to the subgraph, which lingers, may be among them or not.
  expect(await sumMetric(federation.gateway.url, 'nodejs_active_handles')).toBeLessThanOrEqual(handles + 1);
  // Less than 1,000 bytes of each are left when the garbage is collected.
  await until(async () => (await metric('nodejs_heap_size_used_bytes')) < heap + 5_000_000);
  await client.close();
});
