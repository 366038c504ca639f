/** `@requires` on a field with arguments, whose arguments Apollo's planner mixes with those of the client. Each runs on the real gateway. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

describe('a field with arguments that @requires fetches', () => {
  const prices: Record<string, number> = { EUR: 9, USD: 10, CHF: 8 };
  const price = (_: unknown, { currency }: { currency: string }) => prices[currency] ?? null;

  it('is fetched with the arguments of @requires beside those of the client', async () => {
    federation = await startFederation({
      catalog: {
        sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! price(currency: String = "EUR"): Int }',
        resolvers: { Query: { product: () => ({ id: 'p1' }) }, Product: { __resolveReference: (key: object) => key, price } },
      },
      tax: {
        sdl: `type Product @key(fields: "id") { id: ID! price(currency: String = "EUR"): Int @external
          tax: String @requires(fields: "price(currency: \\"USD\\")") }`,
        resolvers: {
          Product: { __resolveReference: (key: object) => key, tax: (product: { price: number }) => `tax on ${String(product.price)}` },
        },
      },
    });
    const ask = async (query: string) => (await federation.ask(query)).body;
    expect(await ask('{ product { price(currency: "CHF") tax } }')).toEqual({ data: { product: { price: 8, tax: 'tax on 10' } } });
    expect(await ask('{ product { tax price } }')).toEqual({ data: { product: { price: 9, tax: 'tax on 10' } } });
    expect(await ask('{ product { tax } }')).toEqual({ data: { product: { tax: 'tax on 10' } } });
    // The stand-in of the field must not show in introspection.
    expect((await federation.ask('{ __type(name: "Product") { fields { name } } }')).text).not.toContain('tandIn');
  });

  it('is fetched once for each set of arguments when two fields require it', async () => {
    federation = await startFederation({
      catalog: {
        sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! weight: Int price(currency: String): Int }',
        resolvers: { Query: { product: () => ({ id: 'p1', weight: 3 }) }, Product: { __resolveReference: (key: object) => key, price } },
      },
      tax: {
        sdl: `type Product @key(fields: "id") { id: ID! price(currency: String): Int @external
          tax: String @requires(fields: "price(currency: \\"USD\\")")
          toll: String @requires(fields: "price(currency: \\"CHF\\")")
          weight: Int @external label: String @requires(fields: "weight") }`,
        resolvers: {
          Product: {
            __resolveReference: (key: object) => key,
            tax: (product: { price: number }) => `tax on ${String(product.price)}`,
            label: ({ weight }: { weight: number }) => `${String(weight)} kg`,
            toll: (product: { price: number }) => `toll on ${String(product.price)}`,
          },
        },
      },
    });
    expect((await federation.ask('{ product { tax toll price(currency: "EUR") } }')).body).toEqual({
      data: { product: { tax: 'tax on 10', toll: 'toll on 8', price: 9 } },
    });
    // GraphQL §3.13.2: a field that is not included is as if it were not asked for; the others do not wait for what it requires.
    const query = 'query ($label: Boolean!) { product { tax toll label @include(if: $label) } }';
    const product = { tax: 'tax on 10', toll: 'toll on 8' };
    expect((await federation.ask(query, { label: false })).body).toEqual({ data: { product } });
    expect((await federation.ask(query, { label: true })).body).toEqual({ data: { product: { ...product, label: '3 kg' } } });
  });
});
