/** One GraphQL operation: the request as a transport has read it, and its result. Types only. */
import type { Fault } from '@trestle/schema/errors';
import type { CachePolicy } from './cache-policy.ts';
import type { CacheReport, FetchReport } from './cache-report.ts';
import type { RequestContext } from './context.ts';
import type { RequestUsage } from './operation-usage.ts';
import type { Parameters } from './parameters.ts';
import type { Resume } from './position.ts';
import type { Subscriber } from './subscriber.ts';

export type OperationKind = 'query' | 'mutation' | 'subscription';

/** The application that sent a request, as its headers name it (caller.ts). */
export interface ClientApplication {
  readonly name: string | undefined;
  readonly version: string | undefined;
}

/** The format of incremental delivery: the current proposal, or that of 2022 (Apollo Client's `deferSpec=20220824`). */
export type IncrementalFormat = 'current' | '2022';

/** An operation as a transport has read it. */
export interface IncomingOperation {
  readonly parameters: Parameters;
  readonly context: RequestContext;
  readonly client: ClientApplication;
  /** Why the credential was rejected; only operations that sign in are executed then. */
  readonly rejection: Fault | undefined;
  readonly isReadOnly: boolean;
  readonly reports: Reports;
  readonly subscriber: Subscriber | undefined;
  readonly resume: Resume | undefined;
  readonly incremental?: IncrementalFormat | undefined;
}

/** Runs an operation. Throws a Fault before the engine has it; calls back once afterwards, except for a subscription. */
export type RunOperation = (incoming: IncomingOperation, done: (result: OperationResult) => void) => void;

/** A GraphQL request whose document is known and may still be invalid. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether mutations are refused: a GET must not change anything (GraphQL over HTTP, "GET"). */
  readonly isReadOnly: boolean;
  readonly context: RequestContext;
  /** Why the credential was rejected, for an operation that an extension puts in place of one that signs in. */
  readonly rejection?: Fault | undefined;
  /** What the result reports in `extensions`. */
  readonly reports: Reports;
  /** Receives the events of a subscription. Without a subscriber a subscription is refused with NOT_ACCEPTABLE. */
  readonly subscriber?: Subscriber | undefined;
  /** Whether events carry positions, and after which position the subscription continues. */
  readonly resume?: Resume | undefined;
  /** Set for a client that takes the deferred parts of a result in later responses. */
  readonly incremental?: IncrementalFormat | undefined;
  /** Undefined where usage is not reported. */
  readonly usage?: RequestUsage | undefined;
}

/** Reports that a client asks for by request headers; each becomes a member of `extensions`. */
export interface Reports {
  readonly plan: boolean;
  readonly cost: boolean;
  /** The hash of the supergraph that served the request. */
  readonly supergraph: boolean;
}

export const NO_REPORTS: Reports = { plan: false, cost: false, supergraph: false };

/** How far a request came: `refused` before execution, `failed` without data, `partial` with data and errors. */
export type Outcome = 'refused' | 'failed' | 'partial' | 'complete';

/** Sends a later response. `end` is given with the last one: the outcome of all of them. */
export type SendPart = (bytes: Buffer, end: Outcome | undefined) => void;

export interface OperationResult {
  readonly outcome: Outcome;
  /** The HTTP status of an outcome that has its own, such as 401 or 405. */
  readonly status: number | undefined;
  /** The value of `WWW-Authenticate`, for a result that refuses the credential. */
  readonly challenge: string | undefined;
  /** The value of `Retry-After`, for a result that says to try again; undefined for any other. */
  readonly retryAfterSeconds?: number | undefined;
  readonly operationKind: OperationKind | undefined;
  readonly operationName: string | undefined;
  /** How long it may be cached by `@cacheControl` of its fields; undefined when they do not allow it. */
  readonly caching?: CachePolicy | undefined;
  /** What the response cache did; undefined where it has no part in the result. */
  readonly cached?: CacheReport | undefined;
  /** What the entity cache did; undefined where it has no part in the result. */
  readonly fetched?: FetchReport | undefined;
  /** The execution result as JSON, in the first `length` bytes. They belong to the transport until it calls `release`. */
  readonly bytes: Buffer;
  readonly length: number;
  readonly release: (() => void) | undefined;
  /** Begins the responses that follow this one, and passes on each; must be called once. Undefined for a whole result. */
  readonly rest?: ((send: SendPart) => void) | undefined;
}
