import { describe, expect, it } from '@jest/globals';
import { explainRefusal, parsePurchase } from './purchase.ts';

const detailsOf = (task: () => unknown): unknown => {
  try {
    return task();
  } catch (error) {
    return (error as { details: { field: string }[] }).details.map(({ field }) => field);
  }
};
const item = { productId: '7', qty: 2 };

describe('parsePurchase', () => {
  it('reads one product (spec §2.6) or a list of items', () => {
    expect(parsePurchase({ productId: '7', qty: 1000 })).toEqual({ lines: [{ productId: 7, qty: 1000 }], isList: false });
    const lines = [
      { productId: 7, qty: 2 },
      { productId: 8, qty: 2 },
    ];
    expect(parsePurchase({ productId: null, qty: null, items: [item, { ...item, productId: '8' }] })).toEqual({ lines, isList: true });
  });

  it.each([
    ['nothing', {}, ['productId', 'qty']],
    ['a quantity alone', { qty: 1 }, ['productId']],
    ['a faulty product', { productId: 'x', qty: 0 }, ['productId', 'qty']],
    ['both forms', { ...item, items: [item] }, ['productId', 'qty']],
    ['no item', { items: [] }, ['items']],
    ['101 items', { items: Array.from({ length: 101 }, (_, i) => ({ productId: String(i + 1), qty: 1 })) }, ['items']],
    ['a product twice', { items: [item, item] }, ['items.1.productId']],
    [
      'faulty items',
      {
        items: [
          { productId: '0', qty: 1 },
          { productId: '1', qty: 1001 },
        ],
      },
      ['items.0.productId', 'items.1.qty'],
    ],
  ])('refuses %s with VALIDATION_ERROR and names every faulty field', (_, input, fields) => {
    expect(detailsOf(() => parsePurchase(input))).toEqual(fields);
  });
});

describe('explainRefusal', () => {
  const product = { id: 7, price: 100, stock: 4, currency: 'EUR' };
  const faultsOf = (...args: Parameters<typeof explainRefusal>) => (explainRefusal(...args) as unknown as { details: unknown }).details;
  const buys = (qty: number, isList = false) => ({ lines: [{ productId: 7, qty }], isList });

  it('names the field of the fault', () => {
    expect(faultsOf([], buys(1))).toMatchObject([{ field: 'productId' }]);
    expect(faultsOf([product], buys(5))).toEqual([{ field: 'qty', message: 'must be at most the stock of 4' }]);
    expect(faultsOf([{ ...product, price: 2_147_483_647, stock: 9 }], buys(2))).toMatchObject([{ field: 'qty' }]);
    expect(faultsOf([product], buys(5, true))).toMatchObject([{ field: 'items.0.qty' }]);
  });
});
