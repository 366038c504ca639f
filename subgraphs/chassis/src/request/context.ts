/** The context of a GraphQL request: what every resolver gets besides its arguments. */
import type { LentBytes } from '@trestle/service/process/json-bytes';
import type { Caller } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import type { HttpExchange } from './http-exchange.ts';
import type { IdempotencyKey } from './idempotency-key.ts';

/** A guarded field that was masked in this response: where first, and how often (contract §3). */
export interface Denial {
  readonly coordinate: string;
  readonly requires: string;
  readonly path: readonly (string | number)[];
  count: number;
  /** The scopes that the credential lacks, where its account could read the field with them. */
  requiredScopes?: readonly string[];
}

/** The context of an operation, and of each event of a subscription. */
export interface RequestContext {
  /** The identity behind the request; null for anonymous callers. */
  readonly caller: Caller | null;
  readonly requestId: string;
  /** By field coordinate: filled by `@auth`, sent to the client as errors at the end. */
  readonly denials: Map<string, Denial>;
  readonly idempotency: IdempotencyKey | null;
  /** What the process logs of an HTTP request; absent for operations of a WebSocket. */
  readonly report?: RequestReport | undefined;
  /** Gets the bytes of a large result; absent where a result can only be sent as text. */
  largeResult?: LargeResult;
  /** The HTTP side of the request; absent for operations of a WebSocket. */
  readonly http?: HttpExchange | undefined;
  /** Returns whether the client has disconnected, so that the result of a query is of no use. */
  readonly isAbandoned?: () => boolean;
  /** Discards the rows that were read so far, so that resolvers read them again. Called before and after each mutation. */
  readonly forgetReads?: () => void;
}

/** The bytes of a result, once it is rendered. */
export interface LargeResult {
  rendered?: LentBytes;
}

/** Verifies the bearer token of a request. */
export interface CallerVerifier {
  /** Returns the caller, or null in a process whose tokens are not access tokens. Throws UNAUTHORIZED for an invalid token. */
  readonly verify: (token: string) => Caller | null;
}

/** What becomes known of a request while it is executed, for its line in the log. */
export interface RequestReport {
  readonly requestId: string;
  /** The path of the endpoint, with `*` for what follows it, such as `/files/*`; undefined when no endpoint has the path. */
  route: string | undefined;
  operation: string | undefined;
}

/** Returns the caller of a request that needs one. Throws UNAUTHORIZED for anonymous callers (spec §5.7). */
export function requireCaller({ caller }: RequestContext): Caller {
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required.');
  return caller;
}
