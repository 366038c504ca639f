/** The rules of products. Pure: no database, no clock. */
import { notFound } from '@trestle/chassis/request/faults';
import { type SearchQuery, parseSearchQuery } from '@trestle/chassis/search/query';
import { checkString } from '@trestle/chassis/values/strings';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
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

/** The fields of a product that change; absent ones stay. */
export type ProductChange = Partial<NewProduct>;

/** The largest value of GraphQL's Int and PostgreSQL's integer: no amount of money and no id is larger. */
export const MAX_INT = 2_147_483_647;

/** Parses the id of a product, a whole number (contract §2). Returns undefined for any other string. */
export function parseProductId(id: string): number | undefined {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : NaN;
  return number <= MAX_INT ? number : undefined;
}

/** Parses the id of a product. Throws NOT_FOUND for a string that is no such id. */
export function requireProductId(id: string): number {
  const number = parseProductId(id);
  if (number === undefined) throw notFound('product', id);
  return number;
}

/** A new product or a change of one, as a client sends it. */
type ProductInput = { readonly [Field in keyof NewProduct]?: NewProduct[Field] | null };

/** Parses a new product. Throws VALIDATION_ERROR with every fault. */
export function parseNewProduct(input: Partial<NewProduct> & Pick<NewProduct, 'name' | 'category' | 'price' | 'currency'>): NewProduct {
  return { description: '', stock: 0, ...input, ...parseProductChange(input) };
}

/** Converts a category to the form in which it is stored and compared. */
export function toCategory(category: string): string {
  return category.toLowerCase();
}

/** Parses a change: categories become lower case, currencies capitals. Throws VALIDATION_ERROR with every fault. */
export function parseProductChange(input: ProductInput): ProductChange {
  const { name, description, price, stock, currency } = input;
  const category = input.category == null ? input.category : toCategory(input.category);
  rejectFaults([
    ...(name === undefined ? [] : checkString(name, { field: 'name', ...lengthOf('UpdateProductInput.name') })),
    ...(description === undefined ? [] : checkDescription(description)),
    ...(category === undefined ? [] : checkString(category, { field: 'category', ...lengthOf('UpdateProductInput.category') })),
    ...(price === undefined ? [] : checkCount(price, 'price')),
    ...(currency === undefined ? [] : checkCurrency(currency)),
    ...(stock === undefined ? [] : checkCount(stock, 'stock')),
  ]);
  const written = { ...(category && { category }), ...(currency && { currency: currency.toUpperCase() }) };
  return { ...input, ...written } as ProductChange;
}

/** Parses a filter. Throws VALIDATION_ERROR for a search that cannot be understood. */
export function parseProductFilter<Filter extends { readonly search?: string | null }>(
  filter: Filter,
): { filter: Filter; query: SearchQuery | undefined } {
  return { filter, query: filter.search == null ? undefined : parseSearchQuery(filter.search, 'filter.search') };
}

function checkDescription(description: string | null): FieldFault[] {
  if (description === null) return [{ field: 'description', message: 'must not be null' }];
  return checkString(description, { field: 'description', ...lengthOf('UpdateProductInput.description') });
}

function checkCount(count: number | null, field: string): FieldFault[] {
  if (count === null) return [{ field, message: 'must not be null' }];
  return count >= 0 ? [] : [{ field, message: 'must be at least 0' }];
}
