/** The rules of what a customer may buy in one order (spec §2.6). Pure: no database, no clock. */
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { MAX_INT, type Product, readProductId } from './product.ts';

const MAX_ITEMS = 100;
const MAX_QTY = 1000;

/** One product of an order. */
export interface PurchaseLine {
  readonly productId: number;
  readonly qty: number;
}

/** What to buy: at least one line, and no product twice. */
export interface Purchase {
  readonly lines: readonly PurchaseLine[];
  /** Whether the client sent a list of items; errors name their fields accordingly, e.g. `items.0.qty`. */
  readonly isList: boolean;
}

interface ItemInput {
  readonly productId: string;
  readonly qty: number;
}

export interface PurchaseInput {
  readonly productId?: string | null;
  readonly qty?: number | null;
  readonly items?: readonly ItemInput[] | null;
}

/** Reads what to buy, given as one product or as a list of items. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readPurchase({ productId, qty, items }: PurchaseInput): Purchase {
  if (items == null) {
    rejectFaults([
      ...(productId == null ? [{ field: 'productId', message: 'is required unless items are given' }] : []),
      ...(qty == null ? [{ field: 'qty', message: 'is required unless items are given' }] : []),
    ]);
    return { lines: readLines([{ productId: productId ?? '', qty: qty ?? 0 }], () => ''), isList: false };
  }
  const mixed = Object.entries({ productId, qty }).filter(([, value]) => value != null);
  rejectFaults(mixed.map(([field]) => ({ field, message: 'must not be given together with items' })));
  if (items.length < 1 || items.length > MAX_ITEMS)
    rejectFaults([{ field: 'items', message: `must have 1 to ${String(MAX_ITEMS)} items, not ${String(items.length)}` }]);
  return { lines: readLines(items, (i) => `items.${String(i)}.`), isList: true };
}

function readLines(items: readonly ItemInput[], placeOf: (index: number) => string): PurchaseLine[] {
  const faults: FieldFault[] = [];
  const seen = new Set<number>();
  const lines = items.map(({ productId, qty }, i) => {
    const id = readProductId(productId);
    if (id === undefined) faults.push({ field: `${placeOf(i)}productId`, message: 'must be the number of a product' });
    else if (seen.has(id)) faults.push({ field: `${placeOf(i)}productId`, message: 'names a product twice; send one item with the sum' });
    if (qty < 1 || qty > MAX_QTY) faults.push({ field: `${placeOf(i)}qty`, message: `must be 1 to ${String(MAX_QTY)}` });
    seen.add(id ?? 0);
    return { productId: id ?? 0, qty };
  });
  rejectFaults(faults);
  return lines;
}

/** Returns the BUSINESS_RULE_VIOLATION that says why an order can't be filled; `products` are those of its lines that exist. */
export function explainRefusal(
  products: readonly Pick<Product, 'id' | 'price' | 'stock' | 'currency'>[],
  { lines, isList }: Purchase,
): Error {
  const byId = new Map(products.map((product) => [product.id, product]));
  const faults = lines.flatMap(({ productId, qty }, i) => {
    const place = isList ? `items.${String(i)}.` : '';
    const product = byId.get(productId);
    if (!product) return [{ field: `${place}productId`, message: 'names no product' }];
    if (product.price * qty > MAX_INT) return [{ field: `${place}qty`, message: `makes the order cost more than ${String(MAX_INT)}` }];
    return product.stock < qty ? [{ field: `${place}qty`, message: `is more than the ${String(product.stock)} in stock` }] : [];
  });
  return fail('BUSINESS_RULE_VIOLATION', 'The order can not be filled', { details: faults.length > 0 ? faults : explainSum(products) });
}

/** Each line could be sold by itself: what is wrong is the whole, or it changed in between. */
function explainSum(products: readonly Pick<Product, 'currency'>[]): FieldFault[] {
  const currencies = [...new Set(products.map(({ currency }) => currency))].sort();
  if (currencies.length > 1) return [{ field: 'items', message: `must be in one currency, not in ${currencies.join(' and ')}` }];
  return [{ field: 'items', message: `must cost at most ${String(MAX_INT)} in all, and be in stock` }];
}
