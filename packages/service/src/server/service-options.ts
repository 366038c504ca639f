/** The options of a service: what it serves, where, and within which limits. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@trestle/log';
import type { Admission } from '../admission/admission.ts';
import type { Edge } from '../edge/edge.ts';
import type { LeanRequests } from '../http1/lean-reader/request-head.ts';
import type { Probes } from '../probes/probes.ts';
import type { RefusedRequest, RequestHandlers } from '../http1/refusals.ts';
import type { HeaderList } from '../messages/response-headers.ts';
import type { TrafficLimits } from '../settings.ts';
import type { TlsCredentials } from './tls.ts';

/** What `startService` takes. */
export interface ServiceOptions {
  readonly log: Log;
  /** The port to listen on; 0 for any free port. */
  readonly port: number;
  readonly host: string;
  readonly probes: Probes;
  /** What the log line `listening` has besides the port; default: nothing. */
  readonly listeningFields?: Readonly<Record<string, string>>;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Takes over the connections of requests for a WebSocket. Without it, and for any other `Upgrade`, `handle` gets them as ordinary requests.
   */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The requests that the lean reader reads instead of Node.js (ADR 47); default: Node.js reads everything. */
  readonly lean?: LeanRequests | undefined;
  /** Largest size of all headers of a request together, in bytes; default 16 KiB (contract §6). */
  readonly maxHeaderBytes?: number;
  /** Limits of time, rate, bytes and connections; default: those of `settings.ts`. */
  readonly limits?: Partial<TrafficLimits>;
  /** How long requests in flight may take after the server has stopped listening; default 5 s. */
  readonly drainMs?: number;
  /** How long the server goes on to serve after its stop was announced, so that load balancers notice it; default 0. */
  readonly drainDelayMs?: number;
  /** A separate port for `/metrics`; default: the service's own port. */
  readonly metricsPort?: number | undefined;
  /** The mean delay of the event loop, in milliseconds, above which new requests are answered 503; default: no limit. */
  readonly maxEventLoopDelayMs?: number | undefined;
  /** Shares the process between clients; default: an admission of its own. A process passes one that also admits other work than requests. */
  readonly admission?: Admission;
  /** The key by which the project's processes sign the ids of their clients (see `client-id.ts`). */
  readonly clientIdKey?: string | undefined;
  /** The address by which clients know the service; plain HTTP is redirected to it. */
  readonly publicUrl?: string | undefined;
  /** How proxies and browsers are treated; default: the peer is the client, and no response has headers for browsers. */
  readonly edge?: Edge | undefined;
  /** What the limits of requests add to responses that the service sends without `handle`; default: no headers. */
  readonly rateLimits?: RateLimitHeaders | undefined;
  /** Returns headers of the responses that the service sends without `handle`, by the request target; default: none. */
  readonly headersOf?: RequestHandlers['headersOf'];
  /** Renders refusals in the process's own envelope; default: the envelope of spec §7.1. */
  readonly toRefusalResponse?: RequestHandlers['toRefusalResponse'];
  /** With a certificate, the port serves HTTPS by HTTP/1.1 and HTTP/2, and redirects plain HTTP to HTTPS. */
  readonly tls?: TlsCredentials | undefined;
}

/** Returns headers of rate limits: names and values in turn. The client of the request is identified (see `client-id.ts`). Never throws. */
export interface RateLimitHeaders {
  /** Returns those of a response that is not counted, such as a preflight or a redirect. */
  readonly describe: (request: RefusedRequest) => HeaderList;
  /** Counts a request that is refused before a handler can know its caller, and returns the headers of the refusal. */
  readonly countRefusal: (request: RefusedRequest) => HeaderList;
}
