/** The rules of products. Pure: no database, no clock. */
import { checkText } from '@trestle/chassis/values/text';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { checkCurrency } from './currency.ts';

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

export type NewProduct = Pick<Product, 'name' | 'description' | 'category' | 'price' | 'currency' | 'stock'>;

/** What may change of a product; what is absent stays. */
export type ProductChange = Partial<NewProduct>;

/** The largest number that GraphQL's Int and PostgreSQL's integer hold: no amount of money, no id is larger. */
export const MAX_INT = 2_147_483_647;

/** Products keep the whole numbers that `productId` demands (contract §2); anything else is no product's id. */
export function readProductId(id: string): number | undefined {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : NaN;
  return number <= MAX_INT ? number : undefined;
}

/** A product's number. Throws NOT_FOUND for an id that is no product's. */
export function requireProductId(id: string): number {
  const number = readProductId(id);
  if (number === undefined) throw fail('NOT_FOUND', 'There is no such product');
  return number;
}

/** What clients write of a product, whole or in part. */
type ProductInput = { readonly [Field in keyof NewProduct]?: NewProduct[Field] | null };

/** Reads a new product. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readNewProduct(input: Partial<NewProduct> & Pick<NewProduct, 'name' | 'category' | 'price' | 'currency'>): NewProduct {
  return { description: '', stock: 0, ...input, ...readProductChange(input) };
}

/** Reads what to change: categories in lower case, currencies in capitals. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readProductChange(input: ProductInput): ProductChange {
  const { name, description, price, stock, currency } = input;
  const category = input.category?.toLowerCase() ?? input.category;
  rejectFaults([
    ...(name === undefined ? [] : checkText(name, { field: 'name', ...lengthOf('UpdateProductInput.name') })),
    ...(description === undefined ? [] : checkDescription(description)),
    ...(category === undefined ? [] : checkText(category, { field: 'category', ...lengthOf('UpdateProductInput.category') })),
    ...(price === undefined ? [] : checkCount(price, 'price')),
    ...(currency === undefined ? [] : checkCurrency(currency)),
    ...(stock === undefined ? [] : checkCount(stock, 'stock')),
  ]);
  const written = { ...(category && { category }), ...(currency && { currency: currency.toUpperCase() }) };
  return { ...input, ...written } as ProductChange;
}

function checkDescription(description: string | null): FieldFault[] {
  if (description === null) return [{ field: 'description', message: 'must not be null' }];
  return checkText(description, { field: 'description', ...lengthOf('UpdateProductInput.description') });
}

function checkCount(count: number | null, field: string): FieldFault[] {
  return count !== null && count >= 0 ? [] : [{ field, message: 'must be at least 0' }];
}
