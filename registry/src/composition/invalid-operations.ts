/** Finds the registered operations that are not valid for a schema. CPU-bound: runs in the thread of composition. No I/O. */
import { type GraphQLSchema, buildSchema, parse, validate } from 'graphql';
import type { InvalidOperation, Operation } from '../records.ts';

const MAX_MESSAGES = 5;

/** An operation to validate. */
export type OperationText = Pick<Operation, 'hash' | 'name' | 'client' | 'text'>;

/** Operations, and the schema that clients see. */
export interface ValidationTask {
  readonly validateFor: string;
  readonly operations: readonly OperationText[];
}

/** Returns the operation with the first errors of its validation; undefined when it is valid. */
export function findInvalid(schema: GraphQLSchema, { hash, name, client, text }: OperationText): InvalidOperation | undefined {
  const errors = validate(schema, parse(text), undefined, { maxErrors: MAX_MESSAGES });
  if (errors.length === 0) return undefined;
  return { hash, name, client, messages: errors.slice(0, MAX_MESSAGES).map(({ message }) => message) };
}

/** Returns those of the operations that are invalid. */
export function listInvalid({ validateFor, operations }: ValidationTask): InvalidOperation[] {
  const schema = buildSchema(validateFor, { assumeValidSDL: true });
  return operations.flatMap((operation) => findInvalid(schema, operation) ?? []);
}
