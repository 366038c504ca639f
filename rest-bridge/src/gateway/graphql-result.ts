/** The vocabulary of GraphQL responses. No I/O. */

/** With the value `1`, the gateway says how long the result of a query may be cached. */
export const CACHE_HEADER = 'trestle-cache';

/** An error of a GraphQL response. */
export interface GraphQLResponseError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Partial<Record<'code' | 'details' | 'masked' | 'retryAfter' | 'reason' | 'requiredScopes', unknown>>>;
}

/** A GraphQL response. */
export interface GraphQLResult {
  readonly data?: Readonly<Record<string, unknown>> | null | undefined;
  readonly errors?: readonly GraphQLResponseError[] | undefined;
  /** Whether a subgraph returned the stored result of an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
  /** `Server-Timing` of the gateway, which it sends to callers that may read it. */
  readonly serverTiming: string | undefined;
  /** `Cache-Control` of the response, for a request with {@link CACHE_HEADER}. */
  readonly cacheControl: string | undefined;
  /** `Age` of a result that the gateway has kept, in seconds. */
  readonly age: string | undefined;
  /** The values of `Set-Cookie` of a mutation. */
  readonly cookies: readonly string[];
}
