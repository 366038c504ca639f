/** A subgraph that is faster than its events can be completed: it is asked to wait where nothing is lost by that. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/client.ts';
import { type Federation, startFederation } from '../../stack/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/harbours.ts';
import { ScriptedSource, shipOf, tell } from '../../stack/scripted-source.ts';
import { type SocketClient, openSocket } from '../../stack/socket-client.ts';

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

/** Lets nothing be completed until what it gives is called. */
const hold = (): (() => void) => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  federation.intercept = () => held.then(() => undefined);
  return () => {
    federation.intercept = undefined;
    release();
  };
};

/** Tells ships up to the last one, from behind the position that is asked for, all at once. */
const pour = (last: number) => {
  source.serve = ({ id, after, socket }) => {
    const from = Number(after ?? 100);
    tell(socket, { id, position: from });
    for (let ship = from + 1; ship <= last; ship++) tell(socket, { id, position: ship, ship });
  };
};

it('that is faster than events can be completed is asked to wait, and nothing is missed', async () => {
  pour(2500);
  const release = hold();
  const client = await openSocket(federation.url);
  subscribe(client);
  await until(async () => (await metric(WAITING)) >= 1000);
  release();
  for (let ship = 101; ship <= 2500; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
  expect(source.asked.length).toBeGreaterThan(1);
  expect(client.waiting).toEqual([]);
  await client.close();
});

it('that tells very much to many at once takes no more room than there is, and each is told all of it', async () => {
  const [last, count] = [1500, 12];
  pour(last);
  const release = hold();
  const clients = await Promise.all(Array.from({ length: count }, () => openSocket(federation.url)));
  // Each something else, so that nobody shares.
  clients.forEach((client, i) => {
    subscribe(client, `subscription { arrived { id cargo${String(i)}: cargo } }`);
  });
  await until(async () => source.asked.length === count && (await metric(WAITING)) >= 5000);
  // What one has still to be told goes with him.
  await clients.pop()?.close();
  release();
  const state = { isOver: false };
  const read = clients.map(async (client) => {
    for (let ship = 101; ship <= last; ship++) expect(shipOf(await client.next())).toBe(`s${String(ship)}`);
  });
  const most = { seen: 0 };
  const watching = (async () => {
    while (!state.isOver) most.seen = Math.max(most.seen, await metric(WAITING));
  })();
  await Promise.all(read);
  state.isOver = true;
  await watching;
  // A few more for each of them: what was on its way already.
  expect(most.seen).toBeLessThan(5000 + count * 100);
  await Promise.all(clients.map((client) => client.close()));
  await until(async () => (await metric(WAITING)) === 0);
});

it('that is faster than events can be completed, and tells no positions, is ended, and the client is told', async () => {
  source.serve = ({ id, socket }) => {
    for (let ship = 101; ship < 1500; ship++) tell(socket, { id, ship });
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
