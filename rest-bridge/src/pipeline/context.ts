/** The vocabulary of the pipeline: a request as it is known after each stage. Every value is made by one stage and never changed. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@trestle/identity';
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { Scope } from '@trestle/telemetry';
import type { RequestTarget } from '../http/request-target.ts';
import type { ResponseEnd } from '../http/response-end.ts';
import type { CompiledRoute } from './compile.ts';

/** What is known of every request before the first stage. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** The API keys that were in the URL, which no longer contains them. */
  readonly urlKeys: readonly string[];
  /** The span of the request; undefined unless spans are exported or the client sent `traceparent`. */
  readonly trace: Scope | undefined;
  /** Ends the queries to the gateway when the client disconnects. */
  readonly cancellation: Cancellation;
  /** When the response has been sent, or its client has disconnected. */
  readonly responseEnd: ResponseEnd;
}

/** A request with its version, after `locate`. */
export interface LocatedRequest extends RequestTarget {
  /** `/api` when the client wrote that prefix; else empty. */
  readonly api: string;
  readonly version: number;
}

/** A request with its route, after `match`. */
export interface MatchedRoute {
  readonly target: LocatedRequest;
  readonly compiled: CompiledRoute;
  /** The values of the `{…}` segments of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** A request with its caller, after `admit`. */
export interface AdmittedRequest<R extends CompiledRoute = CompiledRoute> extends MatchedRoute {
  readonly context: RequestContext;
  readonly compiled: R;
  /** Null for an anonymous caller. */
  readonly caller: Caller | null;
  /** The access token for the gateway, which verifies it again: the client's, or the one that its API key was exchanged for. */
  readonly authorization: string | undefined;
}
