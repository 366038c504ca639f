/** Sends GraphQL requests to the gateway over HTTP, on kept-alive connections. */
import { X509Certificate } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, createSecureContext, rootCertificates } from 'node:tls';
import { type Fault, fail } from '@trestle/schema/errors';
import type { Cancellation } from '@trestle/service/cancellation';
import { CLIENT_HEADER } from '@trestle/service/client-id';
import type { Scope } from '@trestle/telemetry';
import { toPostAttributes } from '@trestle/telemetry/http';
import { Agent, type Dispatcher, Pool, errors } from 'undici';
import { ConnectionTurns } from './connection-turns.ts';
import type { GraphQLResult } from './graphql-result.ts';
import { type StreamedResult, type SubscriptionRequest, subscribe } from './subscription-client.ts';

/** More than a busy gateway works on at once: requests wait in the gateway rather than here. */
const CONNECTIONS = 256;
/** One connection is kept for the readiness of the gateway. */
const CONNECTIONS_FOR_REQUESTS = CONNECTIONS - 1;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The largest request body that the gateway accepts (contract §6). */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** The files of a GraphQL multipart request. */
export interface RequestFiles {
  readonly contentType: string;
  /** Returns the whole body for these operations, in JSON. It is read no faster than it is sent, and once. */
  readonly toBody: (operations: string) => AsyncIterable<Buffer>;
}

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
  const connect = { timeout: CONNECT_TIMEOUT_MS, ...(certificate !== undefined && trustOnly(certificate)) };
  // Each stream has a connection of its own, so that streams never keep requests from being sent.
  const streams = new Agent({ connect, headersTimeout: timeoutMs, maxResponseSize: -1 });
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    connect,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  const gateway: Gateway = { pool, turns: new ConnectionTurns(CONNECTIONS_FOR_REQUESTS) };
  return {
    async execute({ bodyStart, variables, files, headers, trace, cancellation }) {
      const body = `${bodyStart}${JSON.stringify(variables)}}`;
      requireSize(body);
      const span = trace?.startCall('POST', spanAttributes);
      try {
        const sentHeaders = span ? { ...headers, ...span.toHeaders() } : headers;
        const request = { path: pathname, headers: sentHeaders, cancellation };
        const sent = files ? await postFiles(gateway, { ...request, body }, files) : await postWhenReachable(gateway, { ...request, body });
        span?.end();
        return toResult(sent);
      } catch (cause) {
        span?.end({}, (cause as Error).name);
        throw toFault(cause, timeoutMs);
      }
    },
    subscribe: (request) => subscribe({ dispatcher: streams, origin, path: pathname }, request),
    async isReady() {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/readyz' });
      await body.dump();
      return statusCode === 200;
    },
    async close() {
      await Promise.all([pool.destroy(), streams.destroy()]);
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
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError) {
    return fail('UPSTREAM_TIMEOUT', `The gateway did not respond within ${String(timeoutMs)} ms. Retry later.`, { cause });
  }
  return fail('UPSTREAM_ERROR', 'The gateway is unavailable. Retry later.', { cause });
}

function toResult({ text, replayed, timing, cacheControl, age, cookies }: HttpResult): GraphQLResult {
  const { data, errors: failures } = JSON.parse(text) as Pick<GraphQLResult, 'data' | 'errors'>;
  return {
    ...(data !== undefined && { data }),
    ...(failures && { errors: failures }),
    isReplayed: replayed === 'true',
    serverTiming: timing,
    cacheControl,
    age,
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

/** The connections to the gateway, and the turns of the clients that wait for one. */
interface Gateway {
  readonly pool: Pool;
  readonly turns: ConnectionTurns;
}

interface HttpRequest<Body = string> {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly cancellation: Cancellation | undefined;
}

interface HttpResult {
  readonly text: string;
  readonly replayed: string | undefined;
  readonly timing: string | undefined;
  readonly cacheControl: string | undefined;
  readonly age: string | undefined;
  readonly cookies: readonly string[];
}

const NO_COOKIES: readonly string[] = [];

/** Pauses before a request is sent again after its connection was refused. */
const RETRY_DELAYS_MS = [25, 100, 250, 500];

/**
 * Sends a request again only when it certainly did not arrive: its connection was refused, as during a restart of the gateway
 * (RFC 9110 §9.2.2). A request that may have arrived is never repeated.
 */
async function postWhenReachable(gateway: Gateway, request: HttpRequest): Promise<HttpResult> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await post(gateway, request);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await delay(delayMs);
    }
  }
  return post(gateway, request);
}

/** Sends a request with files, once: they cannot be read a second time. */
function postFiles(gateway: Gateway, { body, headers, ...request }: HttpRequest, files: RequestFiles): Promise<HttpResult> {
  return post(gateway, { ...request, headers: { ...headers, 'content-type': files.contentType }, body: Readable.from(files.toBody(body)) });
}

/** Uses `dispatch`, because a stream between would take a third of the CPU time of a request. */
function post({ pool, turns }: Gateway, { path, headers, body, cancellation }: HttpRequest<string | Readable>): Promise<HttpResult> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let replayed: string | undefined;
    let timing: string | undefined;
    let cacheControl: string | undefined;
    let age: string | undefined;
    let cookies = NO_COOKIES;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        cancellation?.add(controller);
      },
      onResponseStart(_, __, received) {
        replayed = received['idempotent-replayed'] as string | undefined;
        timing = received['server-timing'] as string | undefined;
        cacheControl = received['cache-control'] as string | undefined;
        age = received['age'] as string | undefined;
        const cookie = received['set-cookie'];
        if (cookie !== undefined) cookies = typeof cookie === 'string' ? [cookie] : cookie;
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        turns.release();
        const [only, ...others] = chunks;
        const text = only && others.length === 0 ? only.toString() : Buffer.concat(chunks).toString();
        resolve({ text, replayed, timing, cacheControl, age, cookies });
      },
      onResponseError(_, error) {
        turns.release();
        reject(error);
      },
    };
    turns.take(headers[CLIENT_HEADER] ?? '', () => {
      pool.dispatch({ method: 'POST', path, headers, body }, handler);
    });
  });
}
