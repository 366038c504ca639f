/** Stage 8: turns a successful route response into an HTTP response, with entity tag, conditions, range and content coding. */
import type { IncomingMessage } from 'node:http';
import { toEncodedTag } from '@trestle/service/encoding';
import { VARY, toCacheControl } from '../http/caching.ts';
import { allowsRange, evaluateReadConditions, toEtag } from '../http/conditional.ts';
import { JSON_TYPE } from '../http/media-types.ts';
import { parseRanges, toContentRange, toMultipart } from '../http/range.ts';
import type { HttpResponse, ResponseHeaders, RouteResponse } from '../http/response.ts';
import { type ResponseContent, chooseContentCoding, withContentCoding } from '../http/send-response.ts';
import type { PartialError } from './call.ts';
import { preconditionFailed } from './check.ts';

/** A route response with the facts that its caching depends on. */
export interface RenderInput extends RouteResponse {
  readonly isAnonymous: boolean;
  /** Whether the URL contained an API key. */
  readonly hasUrlKey: boolean;
  /** The parts that failed; the response lists them in `_errors`. */
  readonly errors: readonly PartialError[];
}

/**
 * Returns the response to send: the representation, 206 with a part of it, or 304. `common` are headers of every response. Throws
 * PRECONDITION_FAILED, or `RangeNotSatisfiable` (RFC 9110 §13.2.2).
 */
export async function render(request: IncomingMessage, input: RenderInput, common: ResponseHeaders): Promise<HttpResponse> {
  const { status, body, document, version, isAnonymous, hasUrlKey, errors, gatewayPolicy } = input;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isComplete = errors.length === 0;
  const headers = mergeHeaders(common, {
    'cache-control': toCacheControl({ isRead, isAnonymous, isComplete, hasUrlKey, gatewayPolicy }),
    vary: VARY,
    ...input.headers,
  });
  if (!body && !document) return { status, headers };
  const content = document?.bytes ?? JSON.stringify(isComplete ? body : { ...body, _errors: errors });
  const type = document?.type ?? JSON_TYPE;
  if (isRead && status === 200) return renderRead(request, { ...input, content, type, isComplete }, headers);
  const etag = version === undefined ? undefined : { etag: toEtag(content, version) };
  const response = { status, headers: { ...headers, 'content-type': type, ...etag }, content };
  return withContentCoding(response, chooseContentCoding(request, { content, type }));
}

interface ReadResult extends ResponseContent, Pick<RouteResponse, 'version' | 'changedAt'> {
  readonly isComplete: boolean;
}

async function renderRead(request: IncomingMessage, result: ReadResult, common: ResponseHeaders): Promise<HttpResponse> {
  const { content, type, version, changedAt, isComplete } = result;
  const range = request.method === 'GET' ? request.headers.range : undefined;
  // Ranges count the bytes of the content without a coding.
  const encoding = range === undefined ? chooseContentCoding(request, result) : 'identity';
  const etag = toEncodedTag(toEtag(content, version), encoding);
  const lastModified = changedAt === undefined ? undefined : new Date(changedAt).toUTCString();
  const validators = { ...common, etag, 'accept-ranges': 'bytes', ...(lastModified !== undefined && { 'last-modified': lastModified }) };

  const verdict = evaluateReadConditions(request.headers, { etag, lastModified });
  if (verdict === 'precondition failed') throw preconditionFailed();
  if (verdict === 'not modified' && isComplete) return { status: 304, headers: validators };
  const headers = { ...validators, 'content-type': type };
  if (range !== undefined && isComplete && allowsRange(request.headers['if-range'] as string | undefined, etag)) {
    return renderRange(range, { bytes: Buffer.from(content), headers });
  }
  return withContentCoding({ status: 200, headers, content }, encoding);
}

interface WholeContent {
  readonly bytes: Buffer;
  readonly headers: ResponseHeaders & { readonly 'content-type': string };
}

function renderRange(range: string, { bytes, headers }: WholeContent): HttpResponse {
  const parsed = parseRanges(range, bytes.length);
  if (parsed.kind === 'whole') return { status: 200, headers, content: bytes };
  if (parsed.kind === 'unsatisfiable') throw new RangeNotSatisfiable(bytes.length);
  const [only, ...others] = parsed.ranges;
  if (only && others.length === 0) {
    const contentRange = toContentRange(only, bytes.length);
    return { status: 206, headers: { ...headers, 'content-range': contentRange }, content: bytes.subarray(only.start, only.end + 1) };
  }
  const { contentType, body } = toMultipart(bytes, parsed.ranges, headers['content-type']);
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

/** Returns all headers. `Link` is a list, to which both may contribute; every other header of `own` replaces that of `common`. */
export function mergeHeaders(common: ResponseHeaders, own: ResponseHeaders): ResponseHeaders {
  const [commonLink, ownLink] = [common['link'], own['link']];
  const link = commonLink !== undefined && ownLink !== undefined ? { link: `${ownLink}, ${commonLink}` } : undefined;
  return { ...common, ...own, ...link };
}
