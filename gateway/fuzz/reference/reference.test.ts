/** The engine compared with graphql-js on one schema with the same data: random operations, and named ones that once had a wrong result. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { silenceVendorTelemetry } from '#gateway/config';
import { compareOne, compareWithReference, writeDifference } from './differential.ts';
import { type Facts, LINK, composeWorld } from './world.ts';

silenceVendorTelemetry();

/** 5 × 25 operations: 125. `npm run fuzz` compares 20,000. */
const SEEDS = Array.from({ length: 5 }, (_, n) => 1 + 20 * n);
let compared = 0;
let comparedErrors = 0;

describe('the engine', () => {
  it.each(SEEDS)('returns what graphql-js returns for 25 random operations, to the order of the keys (seed %i)', async (seed) => {
    const { failures, operations, withErrors } = await compareWithReference({ seed, operations: 25, perWorld: 25, maxFailures: 2 });
    expect(failures.map(writeDifference)).toEqual([]);
    expect(operations).toBe(25);
    compared += operations;
    comparedErrors += withErrors;
  });
});

describe('the engine for aliases that are names of other fields', () => {
  it.each([1, 2])('returns what graphql-js returns (25 random operations, seed %i)', async (seed) => {
    const { failures, operations } = await compareWithReference({
      seed,
      operations: 25,
      perWorld: 25,
      maxFailures: 2,
      choosesAliases: true,
    });
    expect(failures.map(writeDifference)).toEqual([]);
    expect(operations).toBe(25);
  });
});

describe('the engine with contextual arguments', () => {
  it.each([23, 130])(
    'gives each the value of the nearest object around it that sets the context (15 operations, seed %i)',
    async (seed) => {
      const report = await compareWithReference({ seed, operations: 15, perWorld: 15, maxFailures: 2, hasContexts: true });
      expect(report.failures.map(writeDifference)).toEqual([]);
      expect(report.operations).toBe(15);
      expect(report.refused).toBeLessThan(5);
    },
  );

  it('is as graphql-js for an operation whose fetches of entities could be sent in batches', async () => {
    const { failures } = await compareWithReference({ seed: 4349, operations: 50, perWorld: 50, maxFailures: 2, hasContexts: true });
    expect(failures.map(writeDifference)).toEqual([]);
  });
});

// Errors and their places are compared as well: in more than a twentieth of the operations.
afterAll(() => {
  expect(comparedErrors).toBeGreaterThan(compared / 20);
});

interface Case {
  readonly subgraphs: Readonly<Record<string, string>>;
  readonly facts?: Partial<Facts>;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

async function differenceOf({ subgraphs, facts, query, variables = {} }: Case): Promise<string | undefined> {
  const world = composeWorld(
    Object.entries(subgraphs).map(([name, sdl]) => ({ name, sdl: `${LINK}\n${sdl}` })),
    { products: [], candidates: new Map(), steady: new Set(), computed: new Map(), ...facts },
  );
  if (!world) throw new Error('The subgraphs do not compose');
  return compareOne(world, { query, variables });
}

/** The same selections on several lists, so that some objects are null, have errors, or occur in several places. */
const manyOf = (selections: string) => [1, 2, 3, 4, 5].map((n) => `q${String(n)}: all(n: ${String(n)}) { ${selections} }`).join(' ');

describe('an operation', () => {
  const profiles = {
    a: 'type Query { all(n: Int): [[E0]] } type E0 @key(fields: "id") { id: ID! role: String rank: String peer: E0 }',
    b: `type E0 @key(fields: "id") { id: ID! role: String @external rank: String @external zone: String
      karma: String @requires(fields: "role") score: String @requires(fields: "rank") }`,
  };
  const facts = {
    steady: new Set(['E0.role', 'E0.rank']),
    computed: new Map([
      ['E0.karma', '{ role }'],
      ['E0.score', '{ rank }'],
    ]),
  };
  const values = [true, false].flatMap((a) => [true, false].map((b) => ({ a, b })));

  // GraphQL §6.3.2 (CollectFields): a selection is left out when one of its conditions does not hold, and no other selection is.
  it.each([
    ['a fragment with two conditions around a field with @requires', 'karma ... @include(if: $a) @skip(if: $b) { score }'],
    ['a condition on a field and the same on a fragment around it', 'zone karma ... @skip(if: $a) { score @skip(if: $b) }'],
    ['one key under different conditions', 'peer @include(if: $a) @skip(if: $b) { zone } peer { role }'],
    ['one key under conditions that exclude each other', 'peer @include(if: $a) { karma } peer @skip(if: $a) { score @skip(if: $b) }'],
  ])('with %s has the result that graphql-js gives', async (_, selections) => {
    const query = `query($a: Boolean!, $b: Boolean!) { ${manyOf(`${selections} t: __typename @skip(if: $a) u: __typename @skip(if: $b)`)} }`;
    for (const variables of values) expect(await differenceOf({ subgraphs: profiles, facts, query, variables })).toBeUndefined();
  });

  const products = {
    a: `type Query { home(n: Int): [[Product]] } interface Product @key(fields: "id") { id: ID! plain: Int }
      type E0 implements Product @key(fields: "id") { id: ID! plain: Int must: Value! } type E1 implements Product @key(fields: "id") { id: ID! plain: Int }
      type Value { x: Int }`,
    b: `type Query { all(n: Int): [[Product!]] } type Product @key(fields: "id") @interfaceObject { id: ID! plain: Int @external extra: Int
      extraComputed: String @requires(fields: "plain") extraMust: Int! extraRef: Product }`,
    c: 'type Product @key(fields: "id") @interfaceObject { id: ID! extra: Int @external extraLate: String @requires(fields: "extra") }',
  };
  const known = {
    products: ['E0', 'E1'],
    steady: new Set(['E0.plain', 'E1.plain', 'Product.extra']),
    computed: new Map([
      ['Product.extraComputed', '{ plain }'],
      ['Product.extraLate', '{ extra }'],
    ]),
  };

  it.each([
    ['a field with @requires that is asked of one type of an interface object', 'extra ... on E1 { extra extraComputed }'],
    ['an object whose type is not known because its only field failed', '... on E0 { must { x } }'],
  ])('with %s has the result that graphql-js gives', async (_, selections) => {
    expect(await differenceOf({ subgraphs: products, facts: known, query: `{ ${manyOf(selections)} }` })).toBeUndefined();
  });

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it.each([
    ['a field with @requires beside one without', 'extra ... on E1 { extraComputed }'],
    ['a field beside one with @requires', 'extraComputed ... on E1 { extra extraMust }'],
    ['a field that may fail and is not nullable', 'extra ... on E1 { extraMust }'],
    ['a field under the same condition and one without any', 'extra @include(if: $a) ... on E1 { extraMust extra @include(if: $b) }'],
    ['a selection of the same field', 'extraRef { extra } ... on E1 { extraRef { extraMust extraComputed } }'],
    ['a field that requires one of the same subgraph', 'extraComputed ... on E1 { extraLate } ... on E0 { extraMust }'],
  ])('that selects for one type of an interface object %s has the result that graphql-js gives', async (_, selections) => {
    const lists = manyOf(selections).replaceAll('all(', 'home(');
    const isConditional = selections.includes('$');
    for (const variables of isConditional ? values : [{}])
      expect(
        await differenceOf({
          subgraphs: products,
          facts: known,
          query: `${isConditional ? 'query($a: Boolean!, $b: Boolean!) ' : ''}{ ${lists} }`,
          variables,
        }),
      ).toBeUndefined();
  });

  it('that asks under one key for fields of different types has errors at that key', async () => {
    const subgraphs = {
      a: 'type Query { all(n: Int): [[Item]] } union Item = E0 | E1 type E0 @key(fields: "id") { id: ID! } type E1 @key(fields: "id") { id: ID! }',
      b: `type E0 @key(fields: "id") { id: ID! list: [Value] } type E1 @key(fields: "id") { id: ID! one: Value } type Value { x: Int y: String! }`,
    };
    const candidates = new Map([['Query.all', ['E0', 'E1']]]);
    const query = `{ ${manyOf('... on E0 { id k: list { y } } ... on E1 { l: one { x } m: id }')} ${manyOf('... on E0 { n: list { x } } ... on E1 { k: one { x } }').replaceAll('q', 'r')} }`;
    expect(await differenceOf({ subgraphs, facts: { candidates }, query })).toBeUndefined();
  });
});
