/** Sends the content of a file: whole, one range, or several, as the client asks (RFC 9110 §13, §14). It is never held in memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { clientOf } from '@trestle/service/clients/client-id';
import { VARY, toCacheControl } from '../http/caching.ts';
import { allowsRange, evaluateReadConditions } from '../http/conditional.ts';
import { type ByteRange, parseRanges, toContentRange, toPartEnd, toPartStart } from '../http/range.ts';
import type { FileContent, HttpResponse, ResponseHeaders } from '../http/response.ts';
import { HARMLESS } from '../http/media-types.ts';
import type { LoadSlot } from '../http/overload.ts';
import { sendResponse } from '../http/send-response.ts';
import { preconditionFailed } from './check.ts';
import type { RequestContext } from './context.ts';
import { RangeNotSatisfiable } from './render.ts';
import type { FileClient } from '../gateway/file-client.ts';

/** A file, and what its response depends on. */
export interface FileResponse {
  readonly file: FileContent;
  /** Headers of every response. */
  readonly common: ResponseHeaders;
  readonly isAnonymous: boolean;
  readonly hasUrlKey: boolean;
}

/** Where a file is sent to. */
export interface FileTarget extends Pick<RequestContext, 'request' | 'cancellation'> {
  readonly response: ServerResponse;
  readonly slot: LoadSlot;
}

/**
 * Sends the response. Throws before anything is sent: PRECONDITION_FAILED, RangeNotSatisfiable, NOT_FOUND, SERVICE_UNAVAILABLE, UPSTREAM_ERROR. The slot is
 * released: a download lasts as long as its client pleases, and is limited by the client of files instead.
 */
export async function sendFile(
  { request, response, cancellation, slot }: FileTarget,
  { file, ...facts }: FileResponse,
  client: FileClient,
): Promise<void> {
  const headers = toHeaders(file, facts);
  const etag = headers['etag'] ?? '';
  const verdict = evaluateReadConditions(request.headers, { etag });
  if (verdict === 'precondition failed') throw preconditionFailed();
  if (verdict === 'not modified') {
    sendResponse(request, response, { status: 304, headers });
    return;
  }
  const plan = toPlan(request, file, { ...headers, 'content-type': file.mediaType });
  if (request.method === 'HEAD' || file.size === 0) {
    response.writeHead(plan.status, plan.headers).end();
    return;
  }
  slot.release();
  const download = await client.begin(file, { client: clientOf(request), cancellation });
  try {
    // The first part is opened before the head is sent, so that a failure can still be an error.
    const [first] = plan.parts;
    const opened = first && (await download.open(first.range));
    response.writeHead(plan.status, plan.headers);
    await pipeline(readParts(plan, opened, download.open), response);
  } finally {
    download.end();
  }
}

interface Part {
  readonly before: string;
  readonly range: ByteRange;
}

interface Plan extends Pick<HttpResponse, 'status' | 'headers'> {
  readonly parts: readonly Part[];
  readonly end: string;
}

function toHeaders(
  { sha256, name, mediaType }: FileContent,
  { common, isAnonymous, hasUrlKey }: Omit<FileResponse, 'file'>,
): ResponseHeaders {
  return {
    ...common,
    ...HARMLESS,
    etag: `"${sha256.slice(0, 32)}"`,
    'accept-ranges': 'bytes',
    'cache-control': toCacheControl({ isRead: true, isAnonymous, isComplete: true, hasUrlKey }),
    vary: VARY,
    'content-disposition': toDisposition(name, mediaType),
  };
}

/** Returns RFC 6266's header: the name in ASCII, and as it is. */
function toDisposition(name: string, mediaType: string): string {
  const full = `${name}.${EXTENSIONS[mediaType] ?? 'bin'}`;
  const ascii = full.replaceAll(/[^\w .()-]/g, '_');
  const encoded = encodeURIComponent(full.toWellFormed()).replaceAll(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

/** Decides which parts are sent. Throws RangeNotSatisfiable. */
function toPlan(request: IncomingMessage, { size, mediaType, sha256 }: FileContent, headers: ResponseHeaders): Plan {
  const { range } = request.headers;
  const isRanged =
    range !== undefined &&
    request.method === 'GET' &&
    allowsRange(request.headers['if-range'] as string | undefined, headers['etag'] ?? '');
  const parsed = isRanged ? parseRanges(range, size) : ({ kind: 'whole' } as const);
  if (parsed.kind === 'unsatisfiable') throw new RangeNotSatisfiable(size);
  const whole = { start: 0, end: size - 1 };
  if (parsed.kind === 'whole') return withLength({ status: 200, headers, parts: [{ before: '', range: whole }], end: '' });
  const [only, ...others] = parsed.ranges;
  if (only && others.length === 0) {
    const ranged = { ...headers, 'content-range': toContentRange(only, size) };
    return withLength({ status: 206, headers: ranged, parts: [{ before: '', range: only }], end: '' });
  }
  // A part of the checksum: the content does not contain it, but by chance.
  const boundary = sha256.slice(32);
  const parts = parsed.ranges.map((each) => ({ before: toPartStart(each, { boundary, size, contentType: mediaType }), range: each }));
  const multipart = { ...headers, 'content-type': `multipart/byteranges; boundary=${boundary}` };
  return withLength({ status: 206, headers: multipart, parts, end: toPartEnd(boundary) });
}

function withLength(plan: Plan): Plan {
  const length = plan.parts.reduce((sum, { before, range }) => sum + before.length + range.end - range.start + 1, plan.end.length);
  return { ...plan, headers: { ...plan.headers, 'content-length': String(length) } };
}

async function* readParts(
  { parts, end }: Plan,
  first: Readable | undefined,
  open: (range: ByteRange) => Promise<Readable>,
): AsyncGenerator<Uint8Array> {
  let opened = first;
  try {
    for (const { before, range } of parts) {
      if (before !== '') yield Buffer.from(before);
      yield* (opened ?? (await open(range))) as AsyncIterable<Uint8Array>;
      opened = undefined;
    }
    if (end !== '') yield Buffer.from(end);
  } finally {
    opened?.destroy();
  }
}
