/** Validates documents of clients: the limits first, so that a document beyond them costs no validation (GraphQL §5, contract §6). */
import { TOO_MANY_FIELD_PAIRS, hasTooManyFieldPairs } from '@trestle/schema/field-pairs';
import { type DocumentNode, GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
import { finiteFloats } from './finite-floats.ts';
import { limitOperations } from './limit-operations.ts';
import type { Limits } from './limits.ts';
import { type LimitMeter, toRefusingLimits } from './measured-limits.ts';

export interface ValidationOptions {
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
  /** After so many errors the validation ends. */
  readonly maxErrors: number;
  /** Notes the values that are limited. */
  readonly measured?: LimitMeter;
}

const NO_VALUE = 'was not provided a runtime value';
/** GraphQL (September 2025) §5.2.4.1. */
const CONDITIONAL_ROOT = 'The root field of a subscription must not have @skip or @include with a variable.';

/** Returns the errors of a document. Those of the specification are not looked for in a document that exceeds a limit. */
export function validateOperations(
  document: DocumentNode,
  { schema, limits, maxErrors, measured }: ValidationOptions,
): readonly GraphQLError[] {
  const exceeded = validate(schema, document, [limitOperations(toRefusingLimits(limits), measured)], { maxErrors });
  if (exceeded.length > 0) return exceeded;
  if (hasTooManyFieldPairs(document)) return [new GraphQLError(TOO_MANY_FIELD_PAIRS)];
  // Suggestions name types and fields, so guesses would read the schema that introspection does not show.
  try {
    return validate(schema, document, [...specifiedRules, finiteFloats], { maxErrors, hideSuggestions: !limits.hasIntrospection });
  } catch (error) {
    // graphql-js has no values of variables for the conditions of the root fields of a subscription.
    if (!(error instanceof GraphQLError) || !error.message.includes(NO_VALUE)) throw error;
    return [new GraphQLError(CONDITIONAL_ROOT, { nodes: error.nodes ?? [] })];
  }
}
