/** What the estimated cost assumes of lists, for all subgraphs and for one, in both engines. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = {
  lamps: {
    sdl: `type Query {
      lamps: [Lamp]
      sized: [Lamp] @listSize(assumedSize: 4)
      sliced(first: Int): [Lamp]
    } type Lamp @key(fields: "id") { id: ID! }`,
    resolvers: { Query: { lamps: () => [], sized: () => [], sliced: () => [] } },
  },
  prices: {
    sdl: 'type Query { prices: [Price] } type Price { lamps: [Lamp] } type Lamp @key(fields: "id", resolvable: false) { id: ID! }',
    resolvers: { Query: { prices: () => [] } },
  },
};

describe.each(['trestle', 'apollo'])('limits.assumedListSize, in the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    const env = { ASSUMED_LIST_SIZE: '20', SUBGRAPH_ASSUMED_LIST_SIZE_PRICES: '300' };
    federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--engine', engine], env });
  });
  afterAll(() => federation.stop());

  it.each([
    ['a list of which nothing is known', '{ lamps { id } }', 20],
    ['a list whose slicing argument is not set', '{ sliced { id } }', 20],
    ['lists of a subgraph with a size of its own', '{ prices { lamps { id } } }', 300 + 300 * 300],
    ['a list with @listSize, as before', '{ sized { id } }', 4],
    ['a list with a slicing argument, as before', '{ sliced(first: 7) { id } }', 7],
  ])('decides what %s costs', async (_, query, estimated) => {
    const { body } = await federation.ask(query, {}, { 'trestle-cost': '1' });
    expect(body.extensions?.['cost']).toMatchObject({ estimated });
  });
});

describe('limits.assumedListSize', () => {
  it('refuses what is no size', async () => {
    const env = { ASSUMED_LIST_SIZE: '-1', SUBGRAPH_ASSUMED_LIST_SIZE_PRICES: 'many' };
    const started = startFederation(SOURCES, { env });
    await expect(started).rejects.toThrow('ASSUMED_LIST_SIZE: must be at least 0');
    await expect(started).rejects.toThrow('SUBGRAPH_ASSUMED_LIST_SIZE_PRICES: must be an integer');
  });
});
