/** What an HTTP client for one origin does, whichever library is below. Types and errors only. */
import type { ConnectionOptions, SecureContext } from 'node:tls';
import type { Abortable } from '@trestle/service/process/cancellation';

/** Returns what new connections by TLS use: authorities and a client certificate. Undefined: what Node.js trusts, and no certificate. */
export type ReadTls = () => SecureContext | undefined;

/** Returns why a server with a valid certificate is refused; undefined when it is not. Default: its names must include that of the origin. */
export type CheckServerIdentity = NonNullable<ConnectionOptions['checkServerIdentity']>;

/** A POST with a JSON body, or with a body that is streamed. */
export interface ClientRequest<Body = string> {
  readonly path: string;
  /** Names and values in turn. Content-Length and Host are added; fields that concern the connection are not allowed. */
  readonly headers: readonly string[];
  readonly body: Body;
  /** For whom it is sent. Requests of a client that wait for a connection do not delay those of others. */
  readonly client?: string | undefined;
  /** Whether it changes nothing, so that it may get the response of an equal request. Default false. */
  readonly isQuery?: boolean;
  /** When it was sent for the first time, on the clock of `performance.now`: its time limit counts from then. Default: now. */
  readonly startedAt?: number;
  /** Where it was sent before, for a client with several addresses, which notes there where it sends it. */
  readonly route?: RequestRoute | undefined;
}

/** The addresses of one request, by their indexes, from one attempt to the next. */
export interface RequestRoute {
  /** The last one. */
  last: number | undefined;
  /** Those that failed: others are preferred. */
  readonly avoided: number[];
}

/** A complete response. All of it is lent: it may be read until the handler returns, and is overwritten then. */
export interface ClientResponse {
  readonly status: number;
  /** Holds the body from `bodyStart` to `bodyEnd`; what lies around it has no meaning. */
  readonly bytes: Buffer;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  /** Returns the value of a header field; several values joined with `, `; undefined when it is absent. `name` is in lower case. */
  header(name: string): string | undefined;
  /** Returns every value of a header field, in their order. `name` is in lower case. */
  headerValues(name: string): readonly string[];
}

/** Gets the result of one request: one call of one method. */
export interface ResponseHandler {
  onResponse(response: ClientResponse): void;
  onFailure(error: ClientError): void;
}

/** The connections and requests of a client. */
export interface ClientCounts {
  /** Connections that are open or being opened. */
  readonly open: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  /** Connections that were opened, or begun, since the start. */
  readonly opened: number;
}

/** Sends requests to one origin over connections that it keeps. */
export interface UpstreamClient<Body = string> {
  /** Calls one method of the handler, once. Returns what aborts the request; aborting one that has ended does nothing. */
  send(request: ClientRequest<Body>, handler: ResponseHandler): Abortable;
  /** Returns what the metrics show. */
  readCounts(): ClientCounts;
  /**
   * Closes each connection once it has no request: the client is not used any more, but for requests in flight. What they send later goes over new
   * connections. Resolves when no connection is open.
   */
  retire(): Promise<void>;
  /** Fails all requests and closes all connections. */
  close(): Promise<void>;
}

/**
 * - `UNREACHABLE`: no connection could be opened.
 * - `CONNECTION_LOST`: the connection ended before the response was complete.
 * - `TIMEOUT`: the response was not complete in time, or no connection was free in time.
 * - `INVALID_RESPONSE`: the bytes are no HTTP/1.1 response (RFC 9112).
 * - `RESPONSE_TOO_LARGE`: head or body exceed their limit.
 * - `QUEUE_FULL`: too many requests wait for a connection.
 * - `INVALID_REQUEST`: a header field that must not be sent.
 * - `UNSIGNED`: no signature could be made for a request that needs one.
 * - `ABORTED`: aborted, or the client was closed.
 */
export type ClientErrorCode =
  | 'UNREACHABLE'
  | 'CONNECTION_LOST'
  | 'TIMEOUT'
  | 'INVALID_RESPONSE'
  | 'RESPONSE_TOO_LARGE'
  | 'QUEUE_FULL'
  | 'INVALID_REQUEST'
  | 'UNSIGNED'
  | 'ABORTED';

/**
 * How far a failed request came, which decides whether it may be sent again (RFC 9110 §9.2.2): nothing was sent; something may have been sent,
 * and no byte of a response arrived; a byte of a response arrived.
 */
export type Progress = 'unsent' | 'sent' | 'responding';

/** How a request failed. */
interface ClientErrorOptions {
  readonly progress?: Progress;
  readonly cause?: unknown;
  readonly isShared?: boolean;
}

/** Why a request has no response. The message contains addresses: it is for the log only. */
export class ClientError extends Error {
  readonly code: ClientErrorCode;
  readonly progress: Progress;
  /** Whether another request had this failure, which this one only shares. */
  readonly isShared: boolean;

  constructor(code: ClientErrorCode, message: string, { progress = 'unsent', cause, isShared = false }: ClientErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ClientError';
    this.code = code;
    this.progress = progress;
    this.isShared = isShared;
  }
}
