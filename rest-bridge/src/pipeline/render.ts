/** Stage 8: turns a successful route response into an HTTP response, with entity tag, conditions, range and content coding. */
import type { IncomingMessage } from 'node:http';
import { toEncodedTag } from '@trestle/service/messages/encoding';
import { toJson } from '@trestle/service/process/json-bytes';
import { VARY, toCacheControl } from '../http/caching.ts';
import { allowsRange, evaluateReadConditions, toEtag } from '../http/conditional.ts';
import { JSON_TYPE } from '../http/media-types.ts';
import { parseRanges, toContentRange, toMultipart } from '../http/range.ts';
import type { HttpResponse, ResponseHeaders, RouteResponse } from '../http/response.ts';
import { type ResponseContent, chooseContentCoding, withContentCoding } from '../http/send-response.ts';
import type { PartialError } from './call.ts';
import { preconditionFailed } from './check.ts';

/** A route response of which parts may have failed. */
export interface PartialResponse extends RouteResponse {
  /** The parts that failed; the response lists them in `_errors`. Default: none. */
  readonly errors?: readonly PartialError[] | undefined;
}

/** What a response depends on besides its route. */
export interface ResponseFacts {
  /** The headers of every response. */
  readonly common: ResponseHeaders;
  readonly isAnonymous: boolean;
  /** Whether the URL contained an API key. */
  readonly hasUrlKey: boolean;
}

/**
 * Returns the response to send: the representation, 206 with a part of it, or 304; at once, unless it is compressed. Throws
 * PRECONDITION_FAILED, or `RangeNotSatisfiable` (RFC 9110 §13.2.2).
 */
export function render(
  request: IncomingMessage,
  result: PartialResponse,
  { common, isAnonymous, hasUrlKey }: ResponseFacts,
): HttpResponse | Promise<HttpResponse> {
  const { status, body, document, version, changedAt, errors, gatewayPolicy } = result;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isComplete = errors === undefined || errors.length === 0;
  // Headers are added one by one here and below: objects that are spread into others took a tenth of all time.
  const headers: Record<string, string> = {};
  for (const name in common) headers[name] = common[name] as string;
  headers['cache-control'] = toCacheControl({ isRead, isAnonymous, isComplete, hasUrlKey, gatewayPolicy });
  headers['vary'] = VARY;
  if (result.headers) addHeaders(headers, result.headers);
  if (!body && !document) return { status, headers };
  const content = document?.bytes ?? toJson(isComplete ? (body as object) : { ...body, _errors: errors });
  const type = document?.type ?? JSON_TYPE;
  if (isRead && status === 200) return renderRead(request, { content, type, version, changedAt, isComplete }, headers);
  headers['content-type'] = type;
  const encoding = chooseContentCoding(request, { content, type });
  if (version !== undefined) headers['etag'] = toEncodedTag(toEtag(content, version), encoding);
  return withContentCoding({ status, headers, content }, encoding);
}

interface ReadResult extends ResponseContent, Pick<RouteResponse, 'version' | 'changedAt'> {
  readonly isComplete: boolean;
}

/** Adds the validators to `headers`. */
function renderRead(request: IncomingMessage, result: ReadResult, headers: Record<string, string>): HttpResponse | Promise<HttpResponse> {
  const { content, type, version, changedAt, isComplete } = result;
  const range = request.method === 'GET' ? request.headers.range : undefined;
  // Ranges count the bytes of the content without a coding.
  const encoding = range === undefined ? chooseContentCoding(request, result) : 'identity';
  const etag = toEncodedTag(toEtag(content, version), encoding);
  const lastModified = changedAt === undefined ? undefined : new Date(changedAt).toUTCString();
  headers['etag'] = etag;
  headers['accept-ranges'] = 'bytes';
  if (lastModified !== undefined) headers['last-modified'] = lastModified;

  const verdict = evaluateReadConditions(request.headers, { etag, lastModified });
  if (verdict === 'precondition failed') throw preconditionFailed();
  if (verdict === 'not modified' && isComplete) return { status: 304, headers };
  headers['content-type'] = type;
  if (range !== undefined && isComplete && allowsRange(request.headers['if-range'] as string | undefined, etag)) {
    return renderRange(range, { bytes: Buffer.from(content), type, headers });
  }
  return withContentCoding({ status: 200, headers, content }, encoding);
}

interface WholeContent {
  readonly bytes: Buffer;
  readonly type: string;
  readonly headers: ResponseHeaders;
}

function renderRange(range: string, { bytes, type, headers }: WholeContent): HttpResponse {
  const parsed = parseRanges(range, bytes.length);
  if (parsed.kind === 'whole') return { status: 200, headers, content: bytes };
  if (parsed.kind === 'unsatisfiable') throw new RangeNotSatisfiable(bytes.length);
  const [only, ...others] = parsed.ranges;
  if (only && others.length === 0) {
    const contentRange = toContentRange(only, bytes.length);
    return { status: 206, headers: { ...headers, 'content-range': contentRange }, content: bytes.subarray(only.start, only.end + 1) };
  }
  const { contentType, body } = toMultipart(bytes, parsed.ranges, type);
  return { status: 206, headers: { ...headers, 'content-type': contentType }, content: body };
}

/** No range overlaps the representation. `renderError` answers RANGE_NOT_SATISFIABLE with its size (RFC 9110 §15.5.17). */
export class RangeNotSatisfiable extends Error {
  readonly size: number;

  /** `size` is the length of the representation in bytes. */
  constructor(size: number) {
    super(`Range does not overlap the representation of ${String(size)} bytes.`);
    this.size = size;
  }
}

/** Adds headers to others. `Link` is a list, to which both may contribute; every other header of `own` replaces one of the same name. */
export function addHeaders(headers: Record<string, string>, own: ResponseHeaders): void {
  const { link } = headers;
  Object.assign(headers, own);
  if (link !== undefined && own['link'] !== undefined) headers['link'] = `${own['link']}, ${link}`;
}
