/** The rules of products. Pure: no database, no clock. */
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly price: number;
  readonly currency: string;
  readonly stock: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Products keep the whole numbers that `productId` demands (contract §2); anything else is no product's id. */
export function readProductId(id: string): number | undefined {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : NaN;
  return number <= 2_147_483_647 ? number : undefined;
}

/** Reads what to buy. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readPurchase({ productId, qty }: { readonly productId: string; readonly qty: number }): {
  readonly productId: number;
  readonly qty: number;
} {
  const id = readProductId(productId);
  const faults: FieldFault[] = [];
  if (id === undefined) faults.push({ field: 'productId', message: 'must be the number of a product' });
  if (qty < 1 || qty > 1000) faults.push({ field: 'qty', message: 'must be 1 to 1000' });
  rejectFaults(faults);
  return { productId: id ?? 0, qty };
}
