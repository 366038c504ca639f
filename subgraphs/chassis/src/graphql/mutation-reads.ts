/** Lets each mutation, and what it selects, read what is stored now: one request may run several mutations, one after the other. */
import { type GraphQLField, type GraphQLSchema, defaultFieldResolver } from 'graphql';
import type { RequestContext } from '../request/context.ts';

/** Wraps the resolvers of all mutations, so that rows that were read before are discarded when one begins and when it has ended. */
export function applyMutationReads(schema: GraphQLSchema): void {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {}) as GraphQLField<unknown, RequestContext>[];
  for (const field of fields) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = async (source, args: Record<string, unknown>, context, info) => {
      context.forgetReads?.();
      try {
        return await resolve(source, args, context, info);
      } finally {
        context.forgetReads?.();
      }
    };
  }
}
