/** The GraphQL fields of products (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { createProduct, updateProduct } from './mutations.ts';
import { listProducts } from './queries.ts';

export const productResolvers: Resolvers = {
  Query: {
    product: (_, { id }, { loaders }) => loaders.product.find(id),
    productsConnection: (_, { filter, ...args }, context) => listProducts(args, filter ?? {}, context),
  },
  Mutation: {
    createProduct: (_, args, context, info) => createProduct(args, context, info),
    updateProduct: (_, args, context, info) => updateProduct(args, context, info),
  },
  Product: {
    __resolveReference: ({ id }, { loaders }) => loaders.product.find(id),
    id: ({ id }) => String(id),
    isAvailable: ({ stock }) => stock > 0,
  },
  ProductConnection: connectionResolvers,
};
