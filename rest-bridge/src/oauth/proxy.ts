/**
 * Passes the requests of the authorization server on to the users subgraph. Bounded are the bodies, the time and the number of requests.
 * What names the client's side of the connection is not passed on: the server knows its public address by its settings.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Fault, fail } from '@trestle/schema/errors';
import { toClientHeaders } from '@trestle/service/clients/client-id';
import { Pool, errors } from '@trestle/http-client/undici';
import { readBytes } from '../http/read-bytes.ts';
import type { ReceivedRequest } from '../pipeline/receive.ts';

const CONNECTIONS = 32;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_REQUEST_BYTES = 64 * 1024;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_IN_FLIGHT = 200;
const RETRY_AFTER_SECONDS = 2;

/** Request headers that the server reads. All others stay here. */
const REQUEST_HEADERS = [
  'accept',
  'accept-language',
  'authorization',
  'content-type',
  'cookie',
  'if-none-match',
  'origin',
  'sec-fetch-site',
  'user-agent',
];
/** Headers of one connection (RFC 9110 §7.6.1), and what the bridge sets itself. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['content-length', 'date', 'x-request-id'],
]);
/** Which origins may read a response is decided for all paths of the bridge alike, by CORS_ORIGINS, and so is `Vary: Origin`. */
const CORS_PREFIX = 'access-control-';
const CORS_VARY = 'origin';

/** Where the server is. */
export interface OAuthProxyOptions {
  /** The origin of the users subgraph. */
  readonly url: string;
  /** How long it may take to answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** A response of the server. */
export interface OAuthResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly content: Buffer;
  /** The value of `Content-Length`, if the response has that header. */
  readonly contentLength: string | undefined;
}

/** Passes requests on. */
export interface OAuthProxy {
  /**
   * Resolves with the response of the server. Rejects with PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE, UPSTREAM_TIMEOUT or UPSTREAM_ERROR.
   * The request to the server ends when the client closes its connection.
   */
  forward(received: ReceivedRequest): Promise<OAuthResponse>;
  close(): Promise<void>;
}

/** Creates the proxy. */
export function createOAuthProxy({ url, timeoutMs }: OAuthProxyOptions): OAuthProxy {
  const pool = new Pool(new URL(url).origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  let inFlight = 0;
  return {
    async forward({ context: { request, requestId, cancellation }, slot }) {
      const body = await readBody(request);
      // Only now, because a request whose body never completes would keep its place.
      slot.acquire();
      if (inFlight >= MAX_IN_FLIGHT) throw tooMany();
      const abort = new AbortController();
      cancellation.add(abort);
      inFlight++;
      try {
        const headers = { ...toRequestHeaders(request), 'x-request-id': requestId };
        const { method = 'GET', url: path = '/' } = request;
        const options = { path, method: method as 'GET', headers, body: body.length > 0 ? body : null, signal: abort.signal };
        const received = await pool.request(options);
        const content = Buffer.from(await received.body.arrayBuffer());
        const contentLength = toContentLength(method, received, content);
        return { status: received.statusCode, headers: toResponseHeaders(received.headers), content, contentLength };
      } catch (cause) {
        throw toFault(cause, timeoutMs);
      } finally {
        inFlight--;
      }
    },
    close: () => pool.destroy(),
  };
}

/** Returns the body. Throws PAYLOAD_TOO_LARGE above {@link MAX_REQUEST_BYTES}. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return readBytes(request, MAX_REQUEST_BYTES);
}

function toRequestHeaders(request: IncomingMessage): Record<string, string> {
  const { headers } = request;
  const passed = REQUEST_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)]];
  });
  const [clientHeader, client] = toClientHeaders(request);
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    ...(clientHeader !== undefined && client !== undefined && { [clientHeader]: client }),
  };
}

function toResponseHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const isPassed = (name: string) => !HOP_BY_HOP.has(name) && !named.has(name) && !name.startsWith(CORS_PREFIX);
  const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && isPassed(name));
  const { vary, ...others } = Object.fromEntries(passed) as Record<string, string | string[]>;
  const names = [vary ?? []].flat().flatMap((list) => list.split(',').map((name) => name.trim()));
  const kept = names.filter((name) => name !== '' && name.toLowerCase() !== CORS_VARY);
  return { ...others, ...(kept.length > 0 && { vary: kept.join(', ') }) };
}

/** The status and the headers that the server sent. */
interface ReceivedHead {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
}

/** Returns nothing for 204 and 304, and for HEAD what the server has said (RFC 9110 §8.6). */
function toContentLength(method: string, { statusCode, headers }: ReceivedHead, content: Buffer): string | undefined {
  if (statusCode === 204 || statusCode === 304) return undefined;
  return method === 'HEAD' ? headers['content-length'] : String(content.length);
}

function tooMany(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'The authorization server is busy. Retry after the number of seconds in Retry-After.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function toFault(cause: unknown, timeoutMs: number): Fault {
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError)
    return fail('UPSTREAM_TIMEOUT', `The authorization server did not respond within ${String(timeoutMs)} ms. Retry later.`, { cause });
  if (cause instanceof Fault) return cause;
  return fail('UPSTREAM_ERROR', 'The authorization server is unavailable. Retry later.', { cause });
}
