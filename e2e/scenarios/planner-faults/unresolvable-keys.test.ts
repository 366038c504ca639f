/** Keys that a subgraph declares with `resolvable: false`, which Apollo's planner uses all the same. Each runs on the real gateway. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

const products = [
  { upc: 'p1', sku: 's1', weight: 2 },
  { upc: 'p2', sku: 's2', weight: 5 },
];

describe('a query plan over a key that a subgraph does not resolve', () => {
  it('uses a later key that the subgraph resolves', async () => {
    federation = await startFederation({
      stock: {
        sdl: `type Query { products: [Product!]! }
          type Product @key(fields: "upc") @key(fields: "sku") { upc: ID! sku: ID! weight: Int }`,
        resolvers: {
          Query: { products: () => products },
          Product: {
            __resolveReference: (key: { upc?: string; sku?: string }) =>
              products.find(({ upc, sku }) => upc === key.upc || sku === key.sku),
          },
        },
      },
      shipping: {
        sdl: `type Query { featured: Product }
          type Product @key(fields: "upc", resolvable: false) @key(fields: "sku") { upc: ID! sku: ID! weight: Int @external cost: Int @requires(fields: "weight") }`,
        resolvers: {
          Query: { featured: () => ({ upc: 'p2', sku: 's2' }) },
          Product: {
            __resolveReference: (key: { sku?: string }) => (key.sku === undefined ? null : key),
            cost: ({ weight }: { weight: number }) => weight * 10,
          },
        },
      },
    });
    expect((await federation.ask('{ products { upc cost } featured { cost } }')).body).toEqual({
      data: {
        products: [
          { upc: 'p1', cost: 20 },
          { upc: 'p2', cost: 50 },
        ],
        featured: { cost: 50 },
      },
    });
  });
});
