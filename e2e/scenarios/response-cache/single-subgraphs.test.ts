/** What the response cache keeps of single subgraphs, and for how long without a hint: by a configuration file, which is changed while it serves. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { CACHE_CONTROL } from './lamps.ts';

const SOURCES = {
  lamps: {
    sdl: `${CACHE_CONTROL}
      type Query { lamp: Lamp @cacheControl(maxAge: 600) name: String @cacheControl(maxAge: 600) }
      type Lamp @key(fields: "id") { id: ID! }`,
    resolvers: { Query: { lamp: () => ({ id: '1' }), name: () => 'a' } },
  },
  prices: {
    sdl: `${CACHE_CONTROL} type Lamp @key(fields: "id") { id: ID! price: Int @cacheControl(maxAge: 600) }`,
    resolvers: { Lamp: { __resolveReference: (lamp: object) => lamp, price: () => 1 } },
  },
  plain: {
    sdl: 'type Query { plain: Int }',
    resolvers: { Query: { plain: () => 1 } },
  },
};

let folder: string;
let federation: Federation;
const configure = (subgraphs: object) =>
  writeFile(join(folder, 'trestle.yaml'), `responseCache: { store: memory, contents: both }\nsubgraphs: ${JSON.stringify(subgraphs)}\n`);
/** Returns which subgraphs get a fetch when the same operation is sent for the second time. */
const askTwice = async (query: string) => {
  await federation.ask(query);
  federation.received.length = 0;
  expect((await federation.ask(query)).body.errors).toBeUndefined();
  return federation.received.map(({ subgraph }) => subgraph);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-cached-subgraphs-'));
  await configure({ prices: { responseCache: { enabled: false } }, plain: { responseCache: { ttlSeconds: 600 } } });
  federation = await startFederation(SOURCES, { args: ['--config', join(folder, 'trestle.yaml')] });
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

it('asks a subgraph that is disabled each time, and no other; a subgraph without hints is kept for its own time', async () => {
  expect(await askTwice('query A { lamp { price } }')).toEqual(['prices']);
  expect(await askTwice('query B { name }')).toEqual([]);
  expect(await askTwice('query C { plain name }')).toEqual([]);
});

it('reports a hit of the entity cache only for a result without any fetch', async () => {
  const statusOf = async (query: string) => {
    await federation.ask(query);
    // Another operation, so that the result is not kept as a whole.
    const { headers } = await federation.ask(`${query} # again`);
    return headers
      .get('cache-status')
      ?.split(', ')
      .find((each) => each.startsWith('TrestleEntities'));
  };
  expect(await statusOf('query Kept { lamp { id } plain }')).toBe('TrestleEntities; hit');
  expect(await statusOf('query Mixed { lamp { price } plain }')).toBe('TrestleEntities; fwd=partial; detail="2 of 2"');
  expect(await statusOf('query Fetched { lamp { price } }')).toBe('TrestleEntities; fwd=partial; detail="1 of 1"');
});

it('follows a changed file without a restart', async () => {
  await configure({ lamps: { responseCache: { enabled: false } } });
  let n = 0;
  await until(async () => (await askTwice(`query D${String(n++)} { name }`)).length > 0);
  expect(await askTwice('query E { lamp { price } }')).toEqual(['lamps']);
  // What was kept before stays so.
  expect(await askTwice('query F { again: plain }')).toEqual(['plain']);
});
