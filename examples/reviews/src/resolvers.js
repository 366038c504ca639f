/** The fields of the schema. Reading needs no credential; writing needs a caller. */
import { GraphQLError } from 'graphql';
import { createBatch } from './batch.js';

const MAX_TEXT = 2000;

/** Creates what resolvers share during one request: batches, so that the number of SQL statements does not grow with the number of rows. */
export function createContext(store, caller) {
  return {
    store,
    caller,
    review: createBatch(store.findByIds),
    reviewsOf: createBatch(store.findByProducts),
    averageOf: createBatch(store.findAverages),
  };
}

export const resolvers = {
  Query: { review: (_, { id }, context) => context.review(id) },
  Mutation: { addReview },
  Review: {
    __resolveReference: ({ id }, context) => context.review(id),
    product: ({ productId }) => ({ id: productId }),
    author: ({ authorId }) => ({ id: authorId }),
  },
  Product: {
    __resolveReference: ({ id }) => ({ id }),
    reviews: ({ id }, _, context) => context.reviewsOf(id),
    averageRating: ({ id }, _, context) => context.averageOf(id),
  },
};

function addReview(_, { productId, rating, text }, { store, caller }) {
  if (!caller) throw refuse('UNAUTHORIZED', 'To write a review, send the access token of an account.');
  if (!caller.scopes.has('comments:write')) throw refuse('FORBIDDEN', 'To write a review, the token needs the scope comments:write.');
  if (!/^[1-9]\d{0,9}$/.test(productId)) throw refuse('VALIDATION_ERROR', 'productId must be a whole number.');
  if (rating < 1 || rating > 5) throw refuse('VALIDATION_ERROR', 'rating must be 1 to 5.');
  if (text.length < 1 || text.length > MAX_TEXT) throw refuse('VALIDATION_ERROR', `text must have 1 to ${MAX_TEXT} characters.`);
  return store.add({ productId, authorId: caller.id, rating, text });
}

function refuse(code, message) {
  return new GraphQLError(message, { extensions: { code } });
}
