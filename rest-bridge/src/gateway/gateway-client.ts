/** Sends GraphQL requests to the gateway over HTTP, on kept-alive connections. */
import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, createSecureContext, rootCertificates } from 'node:tls';
import { type Fault, fail } from '@trestle/schema/errors';
import type { Cancellation } from '@trestle/service/cancellation';
import type { Scope } from '@trestle/telemetry';
import { toPostAttributes } from '@trestle/telemetry/http';
import { Pool, errors } from 'undici';

/**
 * More than a busy gateway works on at once: requests wait in the gateway, which takes those of its clients in turn (ADR 12), rather than here
 * in the order of their arrival.
 */
const CONNECTIONS = 256;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The largest request body that the gateway accepts (contract §6). */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** A GraphQL request (GraphQL over HTTP). */
export interface GraphQLRequest {
  /** The JSON of the body up to the value of `variables`, which is its last member. */
  readonly bodyStart: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Headers by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The span of the client's request; undefined unless spans are exported or the client sent `traceparent`. */
  readonly trace: Scope | undefined;
  /** Aborts the request; undefined for one that must complete, such as a mutation. */
  readonly cancellation: Cancellation | undefined;
}

/** An error of a GraphQL response. */
export interface GraphQLResponseError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Partial<Record<'code' | 'details' | 'masked' | 'retryAfter' | 'reason' | 'requiredScopes', unknown>>>;
}

/** A GraphQL response. */
export interface GraphQLResult {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GraphQLResponseError[];
  /** Whether a subgraph returned the stored result of an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
  /** `Server-Timing` of the gateway, which it sends to callers that may read it. */
  readonly serverTiming: string | undefined;
  /** The values of `Set-Cookie` of a mutation. */
  readonly cookies: readonly string[];
}

/** The connection to the gateway. */
export interface GatewayClient {
  /**
   * Resolves with the GraphQL response. Rejects with PAYLOAD_TOO_LARGE when the request exceeds 1 MiB, with UPSTREAM_TIMEOUT when the
   * gateway does not respond within `timeoutMs`, and with UPSTREAM_ERROR when it is unreachable or its response is not JSON.
   */
  execute(request: GraphQLRequest): Promise<GraphQLResult>;
  /** Resolves with whether the gateway's `/readyz` answers 200. Rejects when the gateway is unreachable. */
  isReady(): Promise<boolean>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** The options of `createGatewayClient`. */
export interface GatewayClientOptions {
  readonly url: string;
  /** Maximum time to the headers of a response, and between two parts of its body, in milliseconds. */
  readonly timeoutMs: number;
  /** The gateway's certificate in PEM. It is trusted for `url` whatever host names it contains. */
  readonly certificate?: string | undefined;
}

/** Creates a client with a pool of at most 256 connections. */
export function createGatewayClient({ url, timeoutMs, certificate }: GatewayClientOptions): GatewayClient {
  const address = new URL(url);
  const { origin, pathname } = address;
  const spanAttributes = toPostAttributes(address);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(certificate !== undefined && trustOnly(certificate)) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return {
    async execute({ bodyStart, variables, headers, trace, cancellation }) {
      const body = `${bodyStart}${JSON.stringify(variables)}}`;
      requireSize(body);
      const span = trace?.startCall('POST', spanAttributes);
      try {
        const sentHeaders = span ? { ...headers, ...span.toHeaders() } : headers;
        const sent = await postWhenReachable(pool, { path: pathname, headers: sentHeaders, body, cancellation });
        span?.end();
        return toResult(sent);
      } catch (cause) {
        span?.end({}, (cause as Error).name);
        throw toFault(cause, timeoutMs);
      }
    },
    async isReady() {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/readyz' });
      await body.dump();
      return statusCode === 200;
    },
    close: () => pool.destroy(),
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
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError) {
    return fail('UPSTREAM_TIMEOUT', `The gateway did not respond within ${String(timeoutMs)} ms. Retry later.`, { cause });
  }
  return fail('UPSTREAM_ERROR', 'The gateway is unavailable. Retry later.', { cause });
}

function toResult({ text, replayed, timing, cookies }: HttpResult): GraphQLResult {
  const { data, errors: failures } = JSON.parse(text) as Pick<GraphQLResult, 'data' | 'errors'>;
  return {
    ...(data !== undefined && { data }),
    ...(failures && { errors: failures }),
    isReplayed: replayed === 'true',
    serverTiming: timing,
    cookies,
  };
}

/** Trusts the gateway's own certificate, whose host names need not include the internal address of the gateway. */
function trustOnly(certificate: string): Pick<ConnectionOptions, 'secureContext' | 'checkServerIdentity'> {
  const { raw } = new X509Certificate(certificate);
  return {
    // Made once: to read all of these certificates takes 10 ms, which each of the connections would cost.
    secureContext: createSecureContext({ ca: [...rootCertificates, certificate] }),
    checkServerIdentity: (_, peer) =>
      peer.raw.equals(raw) ? undefined : new Error('The certificate of the gateway is not the one in GATEWAY_CERT_FILE'),
  };
}

interface HttpRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly cancellation: Cancellation | undefined;
}

interface HttpResult {
  readonly text: string;
  readonly replayed: string | undefined;
  readonly timing: string | undefined;
  readonly cookies: readonly string[];
}

const NO_COOKIES: readonly string[] = [];

/** Pauses before a request is sent again after its connection was refused. */
const RETRY_DELAYS_MS = [25, 100, 250, 500];

/**
 * Sends a request again only when it certainly did not arrive: its connection was refused, as during a restart of the gateway
 * (RFC 9110 §9.2.2). A request that may have arrived is never repeated.
 */
async function postWhenReachable(pool: Pool, request: HttpRequest): Promise<HttpResult> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await post(pool, request);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await delay(delayMs);
    }
  }
  return post(pool, request);
}

/** Uses `dispatch`, because a stream between would take a third of the CPU time of a request. */
function post(pool: Pool, { path, headers, body, cancellation }: HttpRequest): Promise<HttpResult> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let replayed: string | undefined;
    let timing: string | undefined;
    let cookies = NO_COOKIES;
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart(controller) {
          cancellation?.add(controller);
        },
        onResponseStart(_, __, received) {
          replayed = received['idempotent-replayed'] as string | undefined;
          timing = received['server-timing'] as string | undefined;
          const cookie = received['set-cookie'];
          if (cookie !== undefined) cookies = typeof cookie === 'string' ? [cookie] : cookie;
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const [only, ...others] = chunks;
          resolve({ text: only && others.length === 0 ? only.toString() : Buffer.concat(chunks).toString(), replayed, timing, cookies });
        },
        onResponseError(_, error) {
          reject(error);
        },
      },
    );
  });
}
