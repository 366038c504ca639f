/** Sends GraphQL requests to the gateway over HTTP, on kept-alive connections. */
import { X509Certificate } from 'node:crypto';
import { type SecureContext, createSecureContext, rootCertificates } from 'node:tls';
import { createConnectionPool } from '@trestle/http-client/connection-pool';
import { createUndiciClient } from '@trestle/http-client/undici-client';
import { type CheckServerIdentity, ClientError } from '@trestle/http-client/upstream-client';
import { type Fault, fail } from '@trestle/schema/errors';
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { Scope } from '@trestle/telemetry';
import { toPostAttributes } from '@trestle/telemetry/http';
import { Agent } from '@trestle/http-client/undici';
import type { ResponseEnd } from '../http/response-end.ts';
import { ClientTurns } from './client-turns.ts';
import { type Gateway, type PostResult, type RequestFiles, postFiles, postWhenReachable } from './gateway-posts.ts';
import type { GraphQLResult } from './graphql-result.ts';
import { type StreamedResult, type SubscriptionRequest, subscribe } from './subscription-client.ts';

/** More than a busy gateway works on at once: requests wait in the gateway rather than here. */
const CONNECTIONS = 255;
/** As many requests as the gateway begins at once while it has several clients. More connections are opened one after the other. */
const CONNECTIONS_AT_FIRST = 16;
/** Results of one client that may be in memory: in responses that it does not read, above all. */
const BYTES_PER_CLIENT = 8 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 2000;
/** Load balancers wait for `/readyz` for few seconds, while a gateway that does not respond keeps requests for `timeoutMs`. */
const READY_TIMEOUT_MS = 1000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The largest request body that the gateway accepts (contract §6). */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** A GraphQL request (GraphQL over HTTP). */
export interface GraphQLRequest {
  /** The JSON of the body up to the value of `variables`, which is its last member. */
  readonly bodyStart: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** What the variables that are null stand for. */
  readonly files?: RequestFiles | undefined;
  /** Headers by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The span of the client's request; undefined unless spans are exported or the client sent `traceparent`. */
  readonly trace: Scope | undefined;
  /** Aborts the request; undefined for one that must complete, such as a mutation. */
  readonly cancellation: Cancellation | undefined;
  /** The end of the response to the client, until which the result takes memory. */
  readonly responseEnd: ResponseEnd;
}

/** The connection to the gateway. */
export interface GatewayClient {
  /**
   * Resolves with the GraphQL response. Rejects with PAYLOAD_TOO_LARGE when the request exceeds 1 MiB, with UPSTREAM_TIMEOUT when the
   * gateway does not respond within `timeoutMs`, and with UPSTREAM_ERROR when it is unreachable or its response is not JSON.
   */
  execute(request: GraphQLRequest): Promise<GraphQLResult>;
  /** Subscribes: yields the results until `signal` is aborted or the gateway ends the stream. Throws UPSTREAM_ERROR. */
  subscribe(request: SubscriptionRequest): AsyncGenerator<StreamedResult>;
  /** Resolves with whether the gateway's `/readyz` answers 200. Rejects when the gateway is unreachable. */
  isReady(): Promise<boolean>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** The options of `createGatewayClient`. */
export interface GatewayClientOptions {
  readonly url: string;
  /** Maximum time to the end of a response, in milliseconds. For a request with files: to its headers, and between two parts of its body. */
  readonly timeoutMs: number;
  /** The gateway's certificate in PEM. It is trusted for `url` whatever host names it contains. */
  readonly certificate?: string | undefined;
}

/** Creates a client with at most 255 connections for requests; each subscription has one more. */
export function createGatewayClient({ url, timeoutMs, certificate }: GatewayClientOptions): GatewayClient {
  const address = new URL(url);
  const { origin, pathname } = address;
  const spanAttributes = toPostAttributes(address);
  const trust = certificate === undefined ? undefined : trustOnly(certificate);
  const options = {
    maxConnections: CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...(trust && { tls: () => trust.secureContext, checkServerIdentity: trust.checkServerIdentity }),
  };
  // Each stream has a connection of its own, so that streams never keep requests from being sent.
  const streams = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS, ...trust }, headersTimeout: timeoutMs, maxResponseSize: -1 });
  const gateway: Gateway = {
    client: createConnectionPool(origin, options),
    uploadClient: createUndiciClient(origin, { ...options, allowsHttp2: false }),
    requests: new ClientTurns({ places: CONNECTIONS, placesAtFirst: CONNECTIONS_AT_FIRST, bytesPerClient: BYTES_PER_CLIENT }),
    largeResponses: new ClientTurns({ places: 1 }),
  };
  return {
    async execute({ bodyStart, variables, files, headers, trace, cancellation, responseEnd }) {
      const body = `${bodyStart}${JSON.stringify(variables)}}`;
      requireSize(body);
      const span = trace?.startCall('POST', spanAttributes);
      try {
        const sentHeaders = span ? { ...headers, ...span.headers } : headers;
        const request = { path: pathname, headers: sentHeaders, body, cancellation, responseEnd };
        const sent = await (files ? postFiles(gateway, request, files) : postWhenReachable(gateway, request));
        span?.end();
        return toResult(sent);
      } catch (cause) {
        span?.end({}, (cause as Error).name);
        throw toFault(cause, timeoutMs);
      }
    },
    subscribe: (request) => subscribe({ dispatcher: streams, origin, path: pathname, timeoutMs }, request),
    async isReady() {
      const { statusCode, body } = await streams.request({ origin, method: 'GET', path: '/readyz', headersTimeout: READY_TIMEOUT_MS });
      await body.dump();
      return statusCode === 200;
    },
    async close() {
      await Promise.all([gateway.client.close(), gateway.uploadClient.close(), streams.destroy()]);
    },
  };
}

/** Throws PAYLOAD_TOO_LARGE. The gateway would refuse the request while it is being sent, and the connection would end without a response. */
function requireSize(body: string): void {
  // A UTF-16 code unit has at most three bytes in UTF-8, so that a small body need not be measured.
  if (body.length * 3 <= MAX_REQUEST_BYTES) return;
  const size = Buffer.byteLength(body);
  if (size <= MAX_REQUEST_BYTES) return;
  const limit = String(MAX_REQUEST_BYTES);
  throw fail(
    'PAYLOAD_TOO_LARGE',
    `Request body with its GraphQL operation is ${String(size)} bytes; the limit is ${limit}. Send less data.`,
  );
}

function toFault(cause: unknown, timeoutMs: number): Fault {
  if (cause instanceof ClientError && cause.code === 'TIMEOUT') {
    return fail('UPSTREAM_TIMEOUT', `The gateway did not respond within ${String(timeoutMs)} ms. Retry later.`, { cause });
  }
  return fail('UPSTREAM_ERROR', 'The gateway is unavailable. Retry later.', { cause });
}

function toResult({ readText, replayed, timing, cacheControl, age, cookies }: PostResult): GraphQLResult {
  const { data, errors: failures } = JSON.parse(readText()) as Pick<GraphQLResult, 'data' | 'errors'>;
  return { data, errors: failures, isReplayed: replayed === 'true', serverTiming: timing, cacheControl, age, cookies };
}

/** Trusts the gateway's own certificate, whose host names need not include the internal address of the gateway. */
function trustOnly(certificate: string): { readonly secureContext: SecureContext; readonly checkServerIdentity: CheckServerIdentity } {
  const { raw } = new X509Certificate(certificate);
  return {
    // Made once: to read all of these certificates takes 10 ms, which each of the connections would cost.
    secureContext: createSecureContext({ ca: [...rootCertificates, certificate] }),
    checkServerIdentity: (_, peer) =>
      peer.raw.equals(raw) ? undefined : new Error('The certificate of the gateway is not the one in GATEWAY_CERT_FILE'),
  };
}
