/** Routes of products. */
import { PRODUCT } from '../resources/resources.ts';
import { create, getList, getOne, merge } from './route-kinds.ts';
import type { Route } from './route.ts';

const resource = PRODUCT;
const spec = 'contract §4';

/** The routes under `/products`. */
export const productRoutes: readonly Route[] = [
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
    summary: 'Creates a product; administrators only',
    needsCaller: true,
    input: 'CreateProductInput',
    location: ({ id }) => `/products/${String(id)}`,
    spec,
  }),
  getOne({ path: '/products/{id}', operation: 'GetProduct', resource, summary: 'Returns a product', spec }),
  merge({
    path: '/products/{id}',
    operation: 'UpdateProduct',
    resource,
    summary: 'Updates a product; administrators only',
    needsCaller: true,
    input: 'UpdateProductInput',
    spec,
  }),
];
