/** One HTTP request to a source of supergraphs, and its whole response, bounded in time, bytes and redirects. */
import { brotliDecompress, gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { followSignal } from '@trestle/http-client/follow-signal';
import { Agent as UndiciAgent } from '@trestle/http-client/undici';
import type { Agent, Dispatcher } from 'undici';
import { SourceError, type SourceLimits, readDelay } from './source.ts';

/** A request. The names of headers are in lower case. */
export interface SourceRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Sent to the origin of `url` only. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to other origins too, when a redirect leads there. */
  readonly conditions?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly maxRedirects: number;
}

/** A response with one of the statuses that the caller accepts. */
export interface SourceResponse {
  readonly status: number;
  readonly etag: string | undefined;
  /** Empty for 204 and 304. */
  readonly text: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const DECODERS: ReadonlyMap<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['br', promisify(brotliDecompress)],
]);
/** What can be sent back in `If-None-Match`. */
const ETAG = /^[\x21-\x7e]{1,1024}$/;

export interface ExchangeOptions extends SourceLimits {
  readonly statuses: readonly number[];
  /** What other statuses mean, for the message. */
  readonly meanings?: Readonly<Record<number, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends the request, and resolves with the whole response. Follows redirects, but none from https to http. Rejects with SourceError for any other
 * status, for a response whose end cannot be known, that is incomplete, not UTF-8, or beyond the limits.
 */
export async function exchange(sent: SourceRequest, options: ExchangeOptions): Promise<SourceResponse> {
  // A connection of its own, so that each request follows the DNS, and nothing is left to close.
  const agent = new UndiciAgent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: options.timeoutMs } });
  const limit = followSignal(options.signal, options.timeoutMs);
  try {
    const response = await follow(sent, { agent, signal: limit.signal });
    return await receive(response, options);
  } catch (error) {
    throw toSourceError(error, { place: toPlace(sent.url), timeoutMs: options.timeoutMs, isOver: limit.signal.aborted });
  } finally {
    limit.end();
    // What was not read, such as the body of an error, is given up with its connection.
    void agent.destroy();
  }
}

interface FailedExchange {
  readonly place: string;
  readonly timeoutMs: number;
  readonly isOver: boolean;
}

/** Messages of clients and of TLS may quote what was sent or received; codes never do. */
function toSourceError(error: unknown, { place, timeoutMs, isOver }: FailedExchange): SourceError {
  if (error instanceof SourceError) return new SourceError(`${place}: ${error.message}`, error);
  if (isOver) return new SourceError(`${place}: did not respond completely within ${String(timeoutMs)} ms`);
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return new SourceError(`${place}: failed (${typeof code === 'string' ? code : String(name)})`);
}

/** Returns an address without what may be secret: user, password, query and fragment. */
export function toPlace(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

interface Connection {
  readonly agent: Agent;
  readonly signal: AbortSignal;
}

async function follow(sent: SourceRequest, { agent, signal }: Connection): Promise<Dispatcher.ResponseData> {
  const first = new URL(sent.url);
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const headers = {
      'user-agent': 'trestle-gateway',
      'accept-encoding': 'br, gzip',
      ...sent.conditions,
      ...own(url, first, sent.headers),
    };
    const { origin, pathname, search } = url;
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: sent.method,
      headers,
      body: sent.body ?? null,
      signal,
    });
    // The body of a response that is not wanted fails with its connection.
    response.body.on('error', () => undefined);
    if (!REDIRECTS.has(response.statusCode)) return response;
    if (redirects >= sent.maxRedirects) throw new SourceError(`redirected more than ${String(sent.maxRedirects)} times`);
    response.body.destroy();
    url = readLocation(url, headerOf(response, 'location'));
  }
}

/** Returns the headers that may go to the origin of `url`. */
function own(url: URL, first: URL, headers: Readonly<Record<string, string>>): Record<string, string> {
  if (url.origin !== first.origin) return {};
  if (first.username === '' && first.password === '') return headers;
  const credentials = `${decodeURIComponent(first.username)}:${decodeURIComponent(first.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}`, ...headers };
}

function readLocation(from: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, from.href)) throw new SourceError('redirected without a valid Location');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== from.protocol) throw new SourceError(`redirected to ${to.protocol}, which is not secure`);
  return to;
}

async function receive(response: Dispatcher.ResponseData, { statuses, meanings, maxBytes }: ExchangeOptions): Promise<SourceResponse> {
  const { statusCode: status } = response;
  if (!statuses.includes(status)) {
    const seconds = Number(headerOf(response, 'retry-after') ?? NaN);
    const meaning = meanings?.[status] === undefined ? '' : `: ${meanings[status]}`;
    throw new SourceError(`responded with the status ${String(status)}${meaning}`, { minDelayMs: readDelay(seconds) });
  }
  const etag = headerOf(response, 'etag');
  const known = etag !== undefined && ETAG.test(etag) ? etag : undefined;
  if (status === 304 || status === 204) return { status, etag: known, text: '' };
  // Without either, the response ends with its connection, also when it is cut off.
  if (headerOf(response, 'content-length') === undefined && headerOf(response, 'transfer-encoding') === undefined)
    throw new SourceError('responded without Content-Length');
  const bytes = await decode(await collect(response, maxBytes), headerOf(response, 'content-encoding'), maxBytes);
  try {
    return { status, etag: known, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw new SourceError('responded with what is not UTF-8');
  }
}

async function collect({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function decode(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity') return bytes;
  const decoder = DECODERS.get(encoding.trim().toLowerCase());
  if (!decoder) throw new SourceError('responded with an unknown Content-Encoding');
  return decoder(bytes, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge(maxBytes)
      : new SourceError('responded with damaged content');
  });
}

function tooLarge(maxBytes: number): SourceError {
  return new SourceError(`responded with more than ${String(maxBytes)} bytes`);
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
