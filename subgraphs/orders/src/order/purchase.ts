/** The rules of what one order may contain (spec §2.6). Pure: no database, no clock. */
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { MAX_INT, type Product, parseProductId } from '../product/rules.ts';

const MAX_ITEMS = 100;
const MAX_QTY = 1000;

/** A product and its quantity. */
export interface PurchaseLine {
  readonly productId: number;
  readonly qty: number;
}

/** The lines of an order: at least one, and no product twice. */
export interface Purchase {
  readonly lines: readonly PurchaseLine[];
  /** Whether the client sent a list of items; then errors name fields such as `items.0.qty`. */
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

/** Parses the lines of an order, given as one product or as a list of items. Throws VALIDATION_ERROR with every fault. */
export function parsePurchase({ productId, qty, items }: PurchaseInput): Purchase {
  if (items == null) {
    rejectFaults([
      ...(productId == null ? [{ field: 'productId', message: 'is required unless items are given' }] : []),
      ...(qty == null ? [{ field: 'qty', message: 'is required unless items are given' }] : []),
    ]);
    return { lines: parseLines([{ productId: productId ?? '', qty: qty ?? 0 }], () => ''), isList: false };
  }
  const mixed = Object.entries({ productId, qty }).filter(([, value]) => value != null);
  rejectFaults(mixed.map(([field]) => ({ field, message: 'must not be given together with items' })));
  if (items.length < 1 || items.length > MAX_ITEMS)
    rejectFaults([{ field: 'items', message: `must have 1 to ${String(MAX_ITEMS)} items, not ${String(items.length)}` }]);
  return { lines: parseLines(items, (i) => `items.${String(i)}.`), isList: true };
}

function parseLines(items: readonly ItemInput[], placeOf: (index: number) => string): PurchaseLine[] {
  const faults: FieldFault[] = [];
  const seen = new Set<number>();
  const lines = items.map(({ productId, qty }, i) => {
    const id = parseProductId(productId);
    if (id === undefined) faults.push({ field: `${placeOf(i)}productId`, message: 'must be the id of a product, a whole number' });
    else if (seen.has(id))
      faults.push({
        field: `${placeOf(i)}productId`,
        message: 'must not be the same as in another item; send one item with the total quantity',
      });
    if (qty < 1 || qty > MAX_QTY) faults.push({ field: `${placeOf(i)}qty`, message: `must be 1 to ${String(MAX_QTY)}` });
    seen.add(id ?? 0);
    return { productId: id ?? 0, qty };
  });
  rejectFaults(faults);
  return lines;
}

/** Returns the BUSINESS_RULE_VIOLATION that explains why an order cannot be placed; `products` are those of its lines that exist. */
export function explainRefusal(
  products: readonly Pick<Product, 'id' | 'price' | 'stock' | 'currency'>[],
  { lines, isList }: Purchase,
): Error {
  const byId = new Map(products.map((product) => [product.id, product]));
  const faults = lines.flatMap(({ productId, qty }, i) => {
    const place = isList ? `items.${String(i)}.` : '';
    const product = byId.get(productId);
    if (!product) return [{ field: `${place}productId`, message: 'must be the id of a product' }];
    if (product.price * qty > MAX_INT)
      return [{ field: `${place}qty`, message: `must not make the order cost more than ${String(MAX_INT)}` }];
    return product.stock < qty ? [{ field: `${place}qty`, message: `must be at most the stock of ${String(product.stock)}` }] : [];
  });
  return fail('BUSINESS_RULE_VIOLATION', 'The order cannot be placed.', { details: faults.length > 0 ? faults : explainSum(products) });
}

/** Each line could be sold on its own: the fault is in the order as a whole, or the products changed meanwhile. */
function explainSum(products: readonly Pick<Product, 'currency'>[]): FieldFault[] {
  const currencies = [...new Set(products.map(({ currency }) => currency))].sort();
  if (currencies.length > 1) return [{ field: 'items', message: `must have one currency, not ${currencies.join(' and ')}` }];
  return [{ field: 'items', message: `must cost at most ${String(MAX_INT)} in total and be in stock` }];
}
