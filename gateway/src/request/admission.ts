/** Admits a request: its caller and its context. Operations that only sign in are admitted with an expired credential. No I/O. */
import type { IncomingMessage } from 'node:http';
import { Fault } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import { Kind, OperationTypeNode, parse } from 'graphql';
import { ANONYMOUS, type IdentifyOptions, identify, readClient } from './caller.ts';
import { type RequestContext, createContext } from './context.ts';
import { readIdempotencyHeaders } from './idempotency.ts';

/** Tokens of the longest document that may only sign in. */
const MAX_TOKENS = 200;

export interface AdmitOptions extends IdentifyOptions {
  readonly requestId: string;
  readonly trace: Scope | undefined;
}

/** An admitted request. */
export interface Admission {
  readonly context: RequestContext;
  /** Why the credential was rejected. The context is then anonymous, and only operations that sign in may use it. */
  readonly rejection: Fault | undefined;
}

/**
 * Returns the context of a request. Throws VALIDATION_ERROR for more than one credential and for an invalid Idempotency-Key, UNAUTHORIZED for
 * an invalid credential. A POST with an invalid credential is admitted until {@link requireCredential} knows its operation.
 */
export function admit(request: IncomingMessage, { requestId, trace, ...options }: AdmitOptions): Admission {
  const contextOf = (identity: ReturnType<typeof identify>) => {
    const mutationHeaders = readIdempotencyHeaders(request.headers);
    return createContext({ ...identity, ...readClient(request), requestId, mutationHeaders, trace });
  };
  try {
    return { context: contextOf(identify(request, options)), rejection: undefined };
  } catch (error) {
    if (request.method !== 'POST' || !(error instanceof Fault) || error.code !== 'UNAUTHORIZED') throw error;
    return { context: contextOf(ANONYMOUS), rejection: error };
  }
}

interface NamedDocument {
  readonly query: string;
  readonly operationName: string | undefined;
}

/** Throws the rejection unless every root field of the operation is one of `signInFields` of the mutation type. */
export function requireCredential(rejection: Fault | undefined, document: NamedDocument, signInFields: ReadonlySet<string>): void {
  if (rejection && !isSignIn(document, signInFields)) throw rejection;
}

function isSignIn({ query, operationName }: NamedDocument, signInFields: ReadonlySet<string>): boolean {
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
