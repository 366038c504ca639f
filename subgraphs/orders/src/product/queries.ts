/** The queries of products. */
import type { Connection } from '@trestle/chassis/paging/connection';
import type { WindowArguments } from '@trestle/chassis/paging/window';
import type { OrdersContext } from '../context.ts';
import type { ProductFilter, ProductOrderField } from '../generated/resolvers.ts';
import { type Product, parseProductFilter } from './rules.ts';

/** Returns a page of products; misspelt words of a search are corrected. Throws VALIDATION_ERROR. */
export async function listProducts(
  args: WindowArguments<ProductOrderField>,
  filter: ProductFilter,
  { stores: { products, corrections } }: OrdersContext,
): Promise<Connection<Product>> {
  const { query, ...parsed } = parseProductFilter(filter);
  return products.connection(args, { ...parsed, query: query && (await corrections.correct(query)) });
}
