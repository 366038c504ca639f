/** The context of one operation: who sent it, what its fetches carry, and what they leave behind. */
import type { Caller } from '@trestle/identity';
import type { Quota } from '@trestle/limits/quota';
import type { Scope } from '@trestle/telemetry';
import { Cancellation } from '@trestle/service/process/cancellation';
import type { ExtendedRequest } from './extended-request.ts';
import { FetchLog } from './fetch-log.ts';
import type { Upload } from './upload.ts';

export interface RequestContext {
  /** Null for an anonymous caller, and where the gateway leaves credentials to its subgraphs. */
  readonly caller: Caller | null;
  /** The client, as `clientOf` of `@trestle/service` names it. Planning time is shared fairly between clients. */
  readonly client: string | undefined;
  readonly requestId: string;
  /** Headers of every fetch, names and values in turn; {@link identity} is part of them. */
  readonly headers: readonly string[];
  /** The headers that may change a result: the caller's credential and those of FORWARD_HEADERS. */
  readonly identity: readonly string[];
  /** Headers of mutations only, such as Idempotency-Key. */
  readonly mutationHeaders: readonly string[];
  /** Counts the units of its operations for the rate limit. */
  readonly quota: Quota;
  /** Cancelled when the client disconnects. */
  readonly cancellation: Cancellation;
  readonly fetchLog: FetchLog;
  /** Undefined unless spans are exported or the client sent a trace to pass on. */
  readonly trace: Scope | undefined;
  /** The files of a multipart request, which the variables have placeholders for. */
  readonly upload?: Upload | undefined;
  /** Undefined without extensions, and for events that several subscribers may share. */
  readonly extended?: ExtendedRequest | undefined;
  /** Whether the operation is one of the operator: the gateway checks no rights for it, only subgraphs do. */
  readonly isOfOperator?: boolean | undefined;
}

/** Calls `act`, and counts its time as time that the client has used of the event loop. */
export type Measure = (client: string | undefined, act: () => void) => void;

export const NOT_MEASURED: Measure = (_, act) => {
  act();
};

/** What a context is made of. */
export interface ContextSource extends Pick<
  RequestContext,
  'caller' | 'client' | 'identity' | 'requestId' | 'mutationHeaders' | 'quota' | 'trace'
> {
  /** Headers that name the client to our subgraphs, names and values in turn. */
  readonly clientHeaders?: readonly string[] | undefined;
  readonly extended?: ExtendedRequest | undefined;
  readonly isOfOperator?: boolean | undefined;
}

/** Creates the context of one operation of a caller that is identified. */
export function createContext(source: ContextSource): RequestContext {
  const { caller, client, clientHeaders = [], identity, requestId, mutationHeaders, quota, trace, extended, isOfOperator } = source;
  const headers = ['content-type', 'application/json', 'accept', 'application/json', 'x-request-id', requestId];
  for (const each of identity) headers.push(each);
  for (const each of clientHeaders) headers.push(each);
  const [cancellation, fetchLog] = [new Cancellation(), new FetchLog()];
  return { caller, client, requestId, headers, identity, mutationHeaders, quota, cancellation, fetchLog, trace, extended, isOfOperator };
}

/** Returns the context for one more execution of the same operation, with a log and a cancellation of its own. */
export function renewContext(context: RequestContext): RequestContext {
  return { ...context, cancellation: new Cancellation(), fetchLog: new FetchLog() };
}
