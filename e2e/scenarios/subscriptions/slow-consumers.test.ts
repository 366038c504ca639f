/** Clients that do not read: what is kept for them, and what is done beyond that. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type OpenResponse, openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
const EVENTS = 10_000;
const NAMES = 'subscription { arrived { id name } }';
/** 10,000 of these are 20 MB: more than the system's own buffers hold. */
const name = 'x'.repeat(2000);
const long = 'x'.repeat(6000);

let federation: Federation;
afterEach(() => federation.stop());
const start = async (policy: string, env: Readonly<Record<string, string>> = {}) => {
  federation = await startFederation(harbours.sources, { env: { SLOW_CONSUMER: policy, SLOW_CONSUMER_BYTES: '200000', ...env } });
};
const metric = async (pattern: string) => {
  const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
  return Number(new RegExp(`^${pattern} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
};
const MEMORY = 'process_resident_memory_bytes';
const subscribe = (client: SocketClient) => {
  client.send({ id: '1', type: 'subscribe', payload: { query: NAMES } });
};
const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
/** Says everything, and waits until a client that reads has heard the last of it. */
const sayAll = async (reader: SocketClient, text = name) => {
  for (let n = 0; n < EVENTS; n++) {
    arrivals.publish({ id: String(n), name: text });
    if (n % 100 === 0) await reader.next(({ payload }) => idOf(payload) === String(n));
  }
  await reader.next(({ payload }) => idOf(payload) === String(EVENTS - 1));
};
const idOf = (payload: unknown) => (payload as { data?: { arrived?: { id: string } } } | undefined)?.data?.arrived?.id;

describe('a WebSocket that is not read', () => {
  it('is closed with 4413 and a reason, others lose nothing, and the memory of the process stays bounded', async () => {
    // The closing handshake waits until the client reads again, after the last event: on a busy machine longer than the default.
    await start('close', { SLOW_CONSUMER_TIMEOUT_MS: '60000' });
    const [slow, reader] = await Promise.all([openSocket(federation.url), openSocket(federation.url)]);
    subscribe(reader);
    await listening(1);
    // As large as it gets by itself.
    await sayAll(reader, long);
    const before = await metric(MEMORY);
    slow.socket.pause();
    subscribe(slow);
    await until(async () => (await metric('trestle_subscriptions_open{transport="websocket"}')) === 2);
    await sayAll(reader, long);
    // What was said is 60 MB; what is kept for one client is 0.2 MB.
    expect((await metric(MEMORY)) - before).toBeLessThan(25_000_000);
    expect(await metric('trestle_subscriptions_ended_total{transport="websocket",cause="slow-consumer"}')).toBe(1);
    slow.socket.resume();
    expect(await slow.closed).toEqual({ code: 4413, reason: 'Slow consumer: messages were not read in time' });
    await reader.close();
  });

  it.each([
    ['drop-oldest', 'the last event is there', (ids: number[]) => ids.at(-1) === EVENTS - 1],
    ['drop-newest', 'the last event is not there', (ids: number[]) => ids.at(-1) !== EVENTS - 1],
  ])('misses events with %s: %s, the order is kept, and the misses are counted', async (policy, _, holds) => {
    await start(policy);
    const [slow, reader] = await Promise.all([openSocket(federation.url), openSocket(federation.url)]);
    slow.socket.pause();
    subscribe(slow);
    subscribe(reader);
    await listening(1);
    await sayAll(reader);
    const dropped = await metric('trestle_subscription_events_dropped_total');
    expect(dropped).toBeGreaterThan(0);
    slow.socket.resume();
    slow.send({ type: 'ping' });
    const ids: number[] = [];
    for (let message = await slow.next(); message.type !== 'pong'; message = await slow.next()) ids.push(Number(idOf(message.payload)));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids.length).toBe(EVENTS - dropped);
    expect(holds(ids)).toBe(true);
    await Promise.all([slow.close(), reader.close()]);
  });

  it('is closed when it sends many pings and reads no pong', async () => {
    await start('drop-oldest');
    const client = await openSocket(federation.url);
    client.socket.pause();
    const payload = { padding: 'x'.repeat(1000) };
    // 30 MB of pongs: more than the system's own buffers hold.
    for (let n = 0; n < 30_000; n++) {
      client.send({ type: 'ping', payload });
      if (n % 500 === 0) await until(() => Promise.resolve(client.socket.bufferedAmount < 1_000_000));
    }
    client.socket.resume();
    expect((await client.closed).code).toBe(4413);
  });
});

it('closes an event stream that is not read', async () => {
  await start('close');
  const [slow, reader] = await Promise.all<OpenResponse | SocketClient>([
    openEventStream(federation.url, { query: NAMES }),
    openSocket(federation.url),
  ]);
  (slow as OpenResponse).response.pause();
  subscribe(reader as SocketClient);
  await listening(1);
  await sayAll(reader as SocketClient);
  await until(async () => (await metric('trestle_subscriptions_ended_total{transport="sse",cause="slow-consumer"}')) === 1);
  (slow as OpenResponse).response.resume();
  await until(() => Promise.resolve((slow as OpenResponse).isOver));
  await (reader as SocketClient).close();
});
