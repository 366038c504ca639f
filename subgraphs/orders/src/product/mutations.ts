/** The mutations of products: rules first, then one write. */
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { OrdersContext } from '../context.ts';
import type { MutationCreateProductArgs, MutationUpdateProductArgs } from '../generated/resolvers.ts';
import { type Product, parseNewProduct, parseProductChange, requireProductId } from './rules.ts';

type Info = MutationCall['info'];

/** Throws VALIDATION_ERROR. */
export async function createProduct(args: MutationCreateProductArgs, { write }: OrdersContext, info: Info): Promise<Product> {
  const product = parseNewProduct(args.input);
  return write({ args, info }, ({ products }) => products.create(product));
}

/** Throws NOT_FOUND, VALIDATION_ERROR or PRECONDITION_FAILED. */
export async function updateProduct(args: MutationUpdateProductArgs, { write }: OrdersContext, info: Info): Promise<Product> {
  const { input, expectedVersions } = args;
  const id = requireProductId(args.id);
  const change = parseProductChange(input);
  return write({ args, info }, ({ products }) => products.update(id, change, { expectedVersions }));
}
