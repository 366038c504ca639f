/** A client that signs in again still sends the credential that has expired: operations that only sign in do not look at it. No I/O. */
import type { IncomingMessage } from 'node:http';
import { Fault } from '@trestle/schema/errors';
import { Kind, OperationTypeNode, parse } from 'graphql';
import { type CallerOptions, createContext, readClient, readContext } from './caller.ts';
import type { EngineContext } from '../engines/engine.ts';
import { readIdempotencyHeaders } from './idempotency.ts';

/** No operation that only signs in is longer. */
const MAX_TOKENS = 200;

export interface Admission {
  readonly context: EngineContext;
  /** Why the credential was refused; the context is then that of an anonymous caller, for operations that only sign in. */
  readonly refusal: Fault | undefined;
}

/** As `readContext`, but a POST with an invalid credential is refused by `requireCredential` once its operation is known. */
export function admit(request: IncomingMessage, options: CallerOptions): Admission {
  try {
    return { context: readContext(request, options), refusal: undefined };
  } catch (error) {
    if (request.method !== 'POST' || !(error instanceof Fault) || error.code !== 'UNAUTHORIZED') throw error;
    const { requestId, trace } = options;
    const mutationHeaders = readIdempotencyHeaders(request.headers);
    return {
      context: createContext({ caller: null, ...readClient(request), identity: [], requestId, mutationHeaders, trace }),
      refusal: error,
    };
  }
}

interface Asked {
  readonly query: string;
  readonly operationName: string | undefined;
}

/** Throws the refusal unless every root field of the operation is a mutation field that signs in. */
export function requireCredential(refusal: Fault | undefined, asked: Asked, signInFields: ReadonlySet<string>): void {
  if (refusal && !isSignIn(asked, signInFields)) throw refusal;
}

function isSignIn({ query, operationName }: Asked, signInFields: ReadonlySet<string>): boolean {
  try {
    const { definitions } = parse(query, { noLocation: true, maxTokens: MAX_TOKENS });
    const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    const operation = operationName === undefined ? operations[0] : operations.find(({ name }) => name?.value === operationName);
    if (operation?.operation !== OperationTypeNode.MUTATION || (operationName === undefined && operations.length > 1)) return false;
    return operation.selectionSet.selections.every((selection) => selection.kind === Kind.FIELD && signInFields.has(selection.name.value));
  } catch {
    return false;
  }
}
