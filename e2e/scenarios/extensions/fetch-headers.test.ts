/** Headers that `onSubgraphRequest` sets for single fetches: a result that depends on them is neither kept nor given to another client. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, type Federation, type Received, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { request, sumMetric, until } from '../../stack/clients/client.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';
import { createTopic } from '../../stack/federation/topic.ts';
import { CACHE_CONTROL } from '../response-cache/lamps.ts';

const ticked = createTopic<{ readonly id: string }>();

const SOURCES = {
  books: {
    sdl: `${CACHE_CONTROL}
      type Query { book: Book @cacheControl(maxAge: 60) }
      type Book @key(fields: "id") { id: ID! }
      type Subscription { ticked: Book }`,
    resolvers: {
      Query: { book: () => ({ id: '1' }) },
      Subscription: { ticked: { subscribe: () => ticked.listen(), resolve: (book: object) => book } },
    },
  },
  shops: {
    sdl: `${CACHE_CONTROL}
      type Book @key(fields: "id") { id: ID! shop: String @cacheControl(maxAge: 60) }`,
    resolvers: { Book: { __resolveReference: (book: object) => book } },
  },
};

/** Sends subgraphs a header of the client that no setting forwards. */
const SENDING = `export default {
  name: 'tenants',
  onSubgraphRequest: ({ request, setHeader }) => setHeader('x-shop', request?.headers['x-tenant'] ?? 'none'),
};`;
/** Sends subgraphs nothing, and writes whose fetch each response is of. */
const OBSERVING = `import { appendFileSync } from 'node:fs';
export default {
  name: 'observer',
  onSubgraphResponse: ({ request }) => appendFileSync(new URL('seen.txt', import.meta.url), String(request?.headers['x-tenant']) + '\\n'),
};`;
const SHOP = '{ book { shop } }';
const [ANN, BEN] = [{ 'x-tenant': 'ann' }, { 'x-tenant': 'ben' }];

let folder: string;
let federation: Federation;
/** Gateways before the same subgraphs, whose extensions send a header; the last one only observes. */
let gateways: Record<'results' | 'entities' | 'observing', RunningProcess>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-fetch-headers-'));
  const file = (name: string) => join(folder, name);
  federation = await startFederation(SOURCES);
  await writeFile(file('supergraph.graphql'), federation.supergraphSdl);
  await writeFile(file('sending.mjs'), SENDING);
  await writeFile(file('observing.mjs'), OBSERVING);
  const args = ['--supergraph', file('supergraph.graphql'), '--port', '0', '--auth', 'off'];
  const start = (module: string, contents: string) =>
    startGateway(args, { EXTENSIONS_FILE: file(module), RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: contents });
  const [results, entities, observing] = await Promise.all([
    start('sending.mjs', 'results'),
    start('sending.mjs', 'entities'),
    start('observing.mjs', 'both'),
  ]);
  gateways = { results, entities, observing };
});
beforeEach(() => {
  federation.received.length = 0;
  federation.intercept = answerShop;
});
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.end('SIGTERM')));
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The subgraph of shops returns what the header says. */
function answerShop({ subgraph, headers, variables }: Received): unknown {
  if (subgraph !== 'shops') return undefined;
  const { length } = variables['representations'] as unknown[];
  return { data: { _entities: Array.from({ length }, () => ({ __typename: 'Book', shop: headers['x-shop'] ?? 'none' })) } };
}

async function ask(gateway: RunningProcess, headers: Record<string, string>): Promise<Answer['data']> {
  return ((await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: SHOP }, headers })).body as Answer).data;
}

/** Returns what two subscribers get of one event, for which subgraphs open `streams` source streams. */
async function receive(gateway: RunningProcess, streams: number): Promise<unknown[]> {
  const query = 'subscription { ticked { shop } }';
  const subscribers: Subscriber[] = [];
  const isOpen = (count: number) => async () =>
    (await sumMetric(gateway.url, 'trestle_subscriptions_open')) === subscribers.length && ticked.listeners === count;
  for (const headers of [ANN, BEN]) {
    subscribers.push(subscribeTo(gateway.url, { query, headers }));
    await until(isOpen(Math.min(streams, subscribers.length)));
  }
  ticked.publish({ id: '1' });
  const results = await Promise.all(subscribers.map(async (each) => (await each.wait(1))[0]?.data));
  await Promise.all(subscribers.map((each) => each.stop()));
  await until(() => Promise.resolve(ticked.listeners === 0));
  return results;
}

describe('a header that onSubgraphRequest sets', () => {
  it.each(['results', 'entities'] as const)('is of the client that asks, with a cache of %s', async (contents) => {
    for (const [tenant, shop] of [
      [ANN, 'ann'],
      [BEN, 'ben'],
      [ANN, 'ann'],
    ] as const)
      expect(await ask(gateways[contents], tenant)).toEqual({ book: { shop } });
    expect(federation.received.filter(({ subgraph }) => subgraph === 'shops')).toHaveLength(3);
  });

  it('leaves nothing that caches of HTTP may keep', async () => {
    const url = `${gateways.results.url}/graphql?query=${encodeURIComponent(SHOP)}`;
    const { headers } = await request(url, { method: 'GET', headers: ANN });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is that of each subscriber, for what completes the same event', async () => {
    expect(await receive(gateways.results, 2)).toEqual([{ ticked: { shop: 'ann' } }, { ticked: { shop: 'ben' } }]);
  });
});

describe('an extension that only observes fetches', () => {
  it('leaves results to be kept', async () => {
    await ask(gateways.observing, ANN);
    const before = federation.received.length;
    await ask(gateways.observing, BEN);
    expect(federation.received).toHaveLength(before);
  });

  it('gets no request for an event that clients share', async () => {
    await writeFile(join(folder, 'seen.txt'), '');
    expect(await receive(gateways.observing, 1)).toEqual([{ ticked: { shop: 'none' } }, { ticked: { shop: 'none' } }]);
    expect(await readFile(join(folder, 'seen.txt'), 'utf8')).toBe('undefined\n');
  });
});
