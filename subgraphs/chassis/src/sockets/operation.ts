/** An operation of a socket, and what becomes of it. */
import type { DocumentNode, FormattedExecutionResult, GraphQLFormattedError } from 'graphql';
import type { Resume } from './resume.ts';
import type { Session } from './session.ts';

/** An operation as a client sent it. */
export interface SocketOperation {
  readonly document: DocumentNode;
  /** The text of the document. */
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly session: Session;
  readonly resume: Resume | undefined;
}

/** Thrown in place of results: why there are none, or no more. */
export class OperationFailure extends Error {
  readonly errors: readonly GraphQLFormattedError[];

  constructor(errors: readonly GraphQLFormattedError[]) {
    super('The operation failed');
    this.errors = errors;
  }
}

/** The results of an operation. */
export type Results = AsyncGenerator<FormattedExecutionResult, void, undefined>;
