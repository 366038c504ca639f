/** Rows of products. */
import { PRODUCT } from '../reply/resources.ts';
import { getList, getOne } from './kinds.ts';
import type { Row } from './row.ts';

export const productRows: readonly Row[] = [
  getList({
    path: '/products',
    operation: 'ListProducts',
    resource: PRODUCT,
    filter: 'ProductFilter',
    order: 'ProductOrderField',
    aliases: { minPrice: 'price_gte', maxPrice: 'price_lte' },
    spec: '§4.2',
  }),
  getOne({ path: '/products/{id}', operation: 'GetProduct', resource: PRODUCT, spec: 'contract §4' }),
];
