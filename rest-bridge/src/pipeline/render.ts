/** Stage 9: the one place where answers leave. No I/O but the writing. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { VARY, toCacheControl } from '../http/caching.ts';
import { allowsRange, judgeRead, toEtag } from '../http/conditional.ts';
import { type Encoding, chooseEncoding, encode, toEncodedTag } from '@trestle/service/encoding';
import { readRanges, toContentRange, toMultipart } from '../http/range.ts';
import type { Outcome } from '../routes/row.ts';
import type { PartialError } from './call.ts';

type Headers = Record<string, string>;

/** A request and what every answer to it carries. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Request id, version and what the version owes its clients. */
  readonly headers: Readonly<Headers>;
}

export interface Rendered extends Outcome {
  readonly isAnonymous: boolean;
  readonly errors: readonly PartialError[];
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Writes an answer with its tag, or 304 or 206 in its place. Throws PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE (RFC 9110 §13.2.2). */
export async function render(exchange: Exchange, rendered: Rendered): Promise<void> {
  const { status, body, document, version, changedAt, isAnonymous, errors } = rendered;
  const { method = 'GET' } = exchange.request;
  const isRead = method === 'GET' || method === 'HEAD';
  const headers = mergeHeaders(exchange.headers, {
    'cache-control': toCacheControl({ isRead, isAnonymous, isWhole: errors.length === 0 }),
    vary: VARY,
    ...rendered.headers,
  });
  if (!body && !document) {
    sendNothing(exchange, { status, headers });
    return;
  }
  const content = document?.bytes ?? JSON.stringify(errors.length > 0 ? { ...body, _errors: errors } : body);
  const type = document?.type ?? JSON_TYPE;
  // Only what was read, or carries a version, is something that a tag can speak of later.
  if (isRead && status === 200) await sendRead(exchange, { content, type, headers, version, changedAt, isWhole: errors.length === 0 });
  else {
    headers['content-type'] = type;
    if (version !== undefined) headers['etag'] = toEtag(content, version);
    await sendEncoded(exchange, { status, headers, content });
  }
}

/** A text stays one until it is written: Node then sends it and the headers in one piece. */
type Content = string | Buffer;

interface Read {
  readonly content: Content;
  readonly type: string;
  readonly headers: Headers;
  readonly version: number | undefined;
  readonly changedAt: string | undefined;
  readonly isWhole: boolean;
}

async function sendRead(exchange: Exchange, { content, type, headers, version, changedAt, isWhole }: Read): Promise<void> {
  const { request } = exchange;
  const range = request.method === 'GET' ? request.headers.range : undefined;
  // Ranges are counted in the bytes of the plain representation.
  const encoding = range === undefined ? encodingOf(request, { content, type }) : 'identity';
  const etag = toEncodedTag(toEtag(content, version), encoding);
  headers['etag'] = etag;
  headers['accept-ranges'] = 'bytes';
  if (changedAt !== undefined) headers['last-modified'] = new Date(changedAt).toUTCString();

  const verdict = judgeRead(request.headers, { etag, lastModified: headers['last-modified'] });
  if (verdict === 'failed') throw fail('PRECONDITION_FAILED', 'The resource has another version than expected');
  if (verdict === 'not modified' && isWhole) {
    exchange.response.writeHead(304, headers).end();
    return;
  }
  headers['content-type'] = type;
  if (range !== undefined && isWhole && allowsRange(request.headers['if-range'] as string | undefined, etag))
    sendRange(exchange, { bytes: Buffer.from(content), headers, range });
  else await sendEncoded(exchange, { status: 200, headers, content }, encoding);
}

function sendRange(exchange: Exchange, { bytes, headers, range }: { bytes: Buffer; headers: Headers; range: string }): void {
  const found = readRanges(range, bytes.length);
  if (found.kind === 'whole') {
    send(exchange, { status: 200, headers, content: bytes });
    return;
  }
  if (found.kind === 'unsatisfiable') throw new Unsatisfiable(bytes.length);
  const [only, ...others] = found.ranges;
  if (only && others.length === 0) {
    headers['content-range'] = toContentRange(only, bytes.length);
    send(exchange, { status: 206, headers, content: bytes.subarray(only.start, only.end + 1) });
    return;
  }
  const { contentType, body } = toMultipart(bytes, found.ranges, headers['content-type'] ?? JSON_TYPE);
  headers['content-type'] = contentType;
  send(exchange, { status: 206, headers, content: body });
}

/** No range lies within the representation; the renderer of errors says how long it is (RFC 9110 §15.5.17). */
export class Unsatisfiable extends Error {
  readonly size: number;
  constructor(size: number) {
    super('The range lies outside of the representation');
    this.size = size;
  }
}

interface Message {
  readonly status: number;
  readonly headers: Headers;
  readonly content: Content;
}

/** Compresses where the client takes it and it is worth it. */
export async function sendEncoded(exchange: Exchange, message: Message, chosen?: Encoding): Promise<void> {
  const { content, headers: sent } = message;
  const encoding = chosen ?? encodingOf(exchange.request, { content, type: sent['content-type'] ?? '' });
  if (encoding === 'identity') {
    send(exchange, message);
    return;
  }
  const headers = { ...message.headers, 'content-encoding': encoding };
  send(exchange, { ...message, headers, content: await encode(typeof content === 'string' ? Buffer.from(content) : content, encoding) });
}

/** What is compressed already is not worth it. */
function encodingOf({ headers }: IncomingMessage, { content, type }: Pick<Read, 'content' | 'type'>): Encoding {
  return /json|text/.test(type) ? chooseEncoding(headers['accept-encoding'], content.length) : 'identity';
}

/** Writes an answer that has no body. 204 and 304 have no length either (RFC 9110 §8.6). */
function sendNothing({ response }: Exchange, { status, headers }: Pick<Message, 'status' | 'headers'>): void {
  if (status !== 204) headers['content-length'] = '0';
  response.writeHead(status, headers).end();
}

function send({ request, response }: Exchange, { status, headers, content }: Message): void {
  headers['content-length'] = String(Buffer.byteLength(content));
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : content);
}

/** `Link` and `Vary` are lists, to which several may add; everything else has one value. */
export function mergeHeaders(common: Readonly<Headers>, own: Readonly<Headers>): Headers {
  const merged = { ...common, ...own };
  if (common['link'] !== undefined && own['link'] !== undefined) merged['link'] = `${own['link']}, ${common['link']}`;
  return merged;
}
