/** Admits a request: its caller and its context. Operations that only sign in are admitted with an expired credential. No I/O. */
import type { IncomingMessage } from 'node:http';
import type { Quota } from '@trestle/limits/quota';
import type { Fault } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import { Kind, OperationTypeNode, parse } from 'graphql';
import { type Identification, readClient } from './caller.ts';
import { type RequestContext, createContext } from './context.ts';
import type { ExtendedRequest } from './extended-request.ts';
import { type MutationHeaderOptions, readMutationHeaders } from './mutation-headers.ts';

/** Tokens of the longest document that may only sign in. */
const MAX_TOKENS = 200;

export interface AdmitOptions extends MutationHeaderOptions {
  readonly identification: Identification;
  readonly quota: Quota;
  readonly requestId: string;
  readonly trace: Scope | undefined;
  /** Undefined without extensions. */
  readonly extended?: ExtendedRequest | undefined;
}

/** An admitted request. */
export interface Admission {
  readonly context: RequestContext;
  /** Why the credential was rejected. The context is then anonymous, and only operations that sign in may use it. */
  readonly rejection: Fault | undefined;
}

/**
 * Returns the context of a request. Throws VALIDATION_ERROR for more than one credential and for an invalid Idempotency-Key, UNAUTHORIZED for
 * an invalid credential, and SERVICE_UNAVAILABLE when an API key could not be checked. A POST with an invalid credential is admitted until
 * {@link requireCredential} knows its operation.
 */
export function admit(request: IncomingMessage, options: AdmitOptions): Admission {
  const { identification, quota, requestId, trace, extended } = options;
  const { identity: known, fault: rejection } = identification;
  if (rejection && (request.method !== 'POST' || rejection.code !== 'UNAUTHORIZED')) throw rejection;
  const mutationHeaders = readMutationHeaders(request, options);
  const { caller, identity } = known;
  const { client, clientHeaders } = readClient(request);
  const context = createContext({ caller, identity, client, clientHeaders, quota, requestId, trace, mutationHeaders, extended });
  return { context, rejection };
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
