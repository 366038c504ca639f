/**
 * Which subgraph is asked for a field with a progressive `@override`, also where other fields require or provide it. Composition refuses `@requires` of
 * such a field (Apollo's and that of The Guild do), so that part of it is skipped here: the planner must be right for other supergraphs too.
 */
import { composeServices } from '@apollo/composition';
import { expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from './planner.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@external", "@requires", "@shareable", "@override", "@provides"])';
const SUBGRAPHS = {
  catalog: `type Query { product: Product items: [Product!] }
    type Product @key(fields: "id") { id: ID! price: Int @shareable name: String }`,
  pricing: `type Query { offer: Product }
    type Product @key(fields: "id") { id: ID! price: Int @shareable @override(from: "catalog", label: "new") tier: Int }`,
  shipping: `type Product @key(fields: "id") { id: ID! price: Int @external tier: Int @external name: String @external
    cost: Int @requires(fields: "price") insurance: Int @requires(fields: "price tier name") }`,
  reviews: `type Query { review: Review } type Review { product: Product @provides(fields: "price") other: Product }
    type Product @key(fields: "id") { id: ID! price: Int @external }`,
};
const { supergraphSdl = '' } = composeServices(
  Object.entries(SUBGRAPHS).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) })),
  { runSatisfiability: false },
);
const planner = createPlanner(supergraphSdl, DEFAULT_LIMITS);

/** Returns the subgraphs whose fetches select the price. */
function askedForPrice(query: string, labels: readonly string[]): string[] {
  const prepared = planner.prepare({ query, operationName: undefined, labels: [...labels], isIncremental: false });
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  const fetches = JSON.stringify(prepared.program).matchAll(/"service":"(\w+)".*?"((?:\{|query)[^"]*\})"/g);
  return [...fetches].flatMap(([, service = '', document = '']) => (/\bprice\b/.test(document) ? [service] : []));
}

it.each([
  ['{ product { price } }', 'catalog', 'pricing'],
  ['{ offer { price } }', 'catalog', 'pricing'],
  ['{ product { cost } }', 'catalog', 'pricing'],
  ['{ offer { cost } }', 'catalog', 'pricing'],
  ['{ items { name cost } }', 'catalog', 'pricing'],
  ['{ offer { tier cost } }', 'catalog', 'pricing'],
  ['{ product { insurance } }', 'catalog', 'pricing'],
  ['{ offer { insurance tier } }', 'catalog', 'pricing'],
  ['{ review { other { price insurance } } }', 'catalog', 'pricing'],
  ['{ review { product { price } } }', 'reviews', 'reviews'],
])('%s asks %s for the price, and %s while the label is active', (query, without, active) => {
  expect([askedForPrice(query, []), askedForPrice(query, ['new'])]).toEqual([[without], [active]]);
});

it.each(['percent(x)', 'percent()', 'percent(101)', 'percent(-1)', 'percent(20'])('refuses a supergraph with the label %s', (label) => {
  const sdl = supergraphSdl.replaceAll('overrideLabel: "new"', `overrideLabel: "${label}"`);
  expect(() => createPlanner(sdl, DEFAULT_LIMITS)).toThrow(
    `The supergraph is not valid: the label \`${label}\` of @override must be percent(N) with N from 0 to 100.`,
  );
});

it.each(['percent(0)', 'percent(20.5)', 'percent(100)', 'percentage'])('takes the label %s', (label) => {
  const sdl = supergraphSdl.replaceAll('overrideLabel: "new"', `overrideLabel: "${label}"`);
  expect(createPlanner(sdl, DEFAULT_LIMITS).facts.labels).toEqual([label]);
});
