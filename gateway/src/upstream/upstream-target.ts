/** What a fetch is sent with, and the subgraph that it is sent to. Types only. */
import type { Readable } from 'node:stream';
import type { ClientErrorCode, ClientResponse, UpstreamClient } from '@trestle/http-client/upstream-client';
import type { ReturnedHeader, RewriteHeaders } from '../headers/header-rules.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { Measure, RequestContext } from '../request/context.ts';
import type { FileMap } from '../request/upload.ts';
import type { CircuitBreaker } from './traffic/circuit-breaker.ts';
import type { RequestRate } from './traffic/request-rate.ts';
import type { RetryBudget } from './traffic/retry-budget.ts';

export interface UpstreamRequest {
  /** The whole body, as JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: UpstreamContext;
  /** The files that go with the body. */
  readonly files?: FileMap | undefined;
  /** Headers that replace others of the same name, after the rules: names and values in turn. */
  readonly headers?: readonly string[] | undefined;
  /**
   * Called for each response, which is lent until it returns, and with the `Cache-Control` that header rules return to clients for it, if any does. Must
   * not throw.
   */
  readonly onResponse?: ((response: ClientResponse, returned?: string) => void) | undefined;
  /**
   * Gets the body of a JSON response with status 200, which is lent until it returns. Returns the result when it has taken the response, without its
   * data. Must not throw.
   */
  readonly take?: ((bytes: Buffer, start: number, end: number) => SubgraphResult | undefined) | undefined;
}

export type UpstreamContext = Partial<Pick<RequestContext, 'client' | 'identity'>> &
  Pick<RequestContext, 'headers' | 'mutationHeaders' | 'cancellation' | 'fetchLog' | 'upload'>;

/** A subgraph and the state of the connections to it. */
export interface UpstreamTarget {
  readonly name: string;
  readonly client: UpstreamClient;
  /** Sends requests with files. */
  readonly uploadClient: UpstreamClient<Readable>;
  readonly path: string;
  /** Whether the client has several addresses. */
  readonly hasAddresses: boolean;
  /** Header fields of every fetch, beside those of its context: names and values in turn. */
  readonly headers: readonly string[];
  /** Applies the rules for headers of requests; undefined without rules. */
  readonly rewrite: RewriteHeaders | undefined;
  /** The response headers that rules return to the client. */
  readonly returned: readonly ReturnedHeader[];
  readonly maxResponseBytes: number;
  /** The time limit of a fetch with its retry. */
  readonly timeoutMs: number;
  /** The statuses after which a query is sent again; undefined for none. */
  readonly retryStatuses: ReadonlySet<number> | undefined;
  readonly rate: RequestRate;
  readonly breaker: CircuitBreaker;
  readonly retries: RetryBudget;
  /** Names, in lower case, of response headers of mutations that go back to the client. */
  readonly forwardResponseHeaders: readonly string[];
  /** Adds a fetch to the metrics: `outcome` is `data`, `errors`, or the code of its failure. */
  readonly observe: (outcome: string, seconds: number) => void;
  /** Adds a request without a response to the metrics. */
  readonly onError: (code: ClientErrorCode) => void;
  readonly onRetry: () => void;
  /** Called before a mutation is sent, and after it has ended. */
  readonly onMutation: () => void;
  /** Calls `act`, whose time counts as used by the client. */
  readonly measure: Measure;
}
