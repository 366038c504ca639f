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

/** Tells ships up to the last one, from behind the position that is asked for, all at once; no more than are asked for, if it can count. */
const pour = (last: number, { counts }: { counts: boolean }) => {
  source.serve = ({ id, after, first = Infinity, socket }) => {
    const from = Number(after ?? 100);
    const to = counts ? Math.min(last, from + first) : last;
    tell(socket, { id, position: from });
    for (let ship = from + 1; ship <= to; ship++) tell(socket, { id, position: ship, ship });
    if (to < last) socket.send(JSON.stringify({ id, type: 'complete' }));
  };
};

it('that is faster than events can be completed is asked to wait, and nothing is missed', async () => {
  pour(1600, { counts: false });
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

it('is asked for what many have missed a page at a time, and for no more than there is room for', async () => {
  // Two pages for each client.
  const last = 420;
  pour(last, { counts: true });
  const after = Buffer.from('["harbours","100"]').toString('base64url');
  const clients: SocketClient[] = [];
  const come = async () => {
    const client = await openSocket(federation.url);
    // Each asks for something else, so that nobody shares.
    const query = `subscription { arrived { id cargo${String(clients.push(client))}: cargo } }`;
    client.send({ id: '1', type: 'subscribe', payload: { query, extensions: { resume: { after } } } });
  };
  const release = hold();
  while (clients.length < 25) await come();
  await until(async () => (await metric(WAITING)) >= 5000);
  const asked = source.asked.length;
  while (clients.length < 35) await come();
  // It was heard once what was sent after it is answered.
  const lateComer = clients.at(-1) as SocketClient;
  lateComer.send({ type: 'ping' });
  await lateComer.next(({ type }) => type === 'pong');
  expect([asked, source.asked.length]).toEqual([25, 25]);
  // What one has still to be told goes with him.
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
