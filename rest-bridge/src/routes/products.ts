/** Rows of products. */
import { PRODUCT } from '../reply/resources.ts';
import { create, getList, getOne, merge } from './kinds.ts';
import type { Row } from './row.ts';

const resource = PRODUCT;
const spec = 'contract §4';

export const productRows: readonly Row[] = [
  getList({
    path: '/products',
    operation: 'ListProducts',
    resource,
    summary: 'Lists products',
    filter: 'ProductFilter',
    order: 'ProductOrderField',
    aliases: { minPrice: 'price_gte', maxPrice: 'price_lte' },
    spec: '§4.2',
  }),
  create({
    path: '/products',
    operation: 'CreateProduct',
    resource,
    summary: 'Adds a product; for administrators',
    needsCaller: true,
    input: 'CreateProductInput',
    location: ({ id }) => `/products/${String(id)}`,
    spec,
  }),
  getOne({ path: '/products/{id}', operation: 'GetProduct', resource, summary: 'Shows a product', spec }),
  merge({
    path: '/products/{id}',
    operation: 'UpdateProduct',
    resource,
    summary: 'Changes a product; for administrators',
    needsCaller: true,
    input: 'UpdateProductInput',
    spec,
  }),
];
