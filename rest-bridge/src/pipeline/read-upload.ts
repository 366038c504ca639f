/** Reads the beginning of an upload, and passes the rest on to the gateway as it arrives: a GraphQL multipart request. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isMultipart, readBoundary } from '@trestle/multipart/boundary';
import { isLastDelimiter, readParts } from '@trestle/multipart/read-head';
import { toEnd, toFileStart, toHead } from '@trestle/multipart/write-request';
import { Fault, type FieldFault, fail } from '@trestle/schema/errors';
import { readJoined } from '@trestle/service/http1/joined-pieces';
import { markStreamed } from '@trestle/service/http1/streamed-body';
import type { RequestFiles } from '../gateway/gateway-posts.ts';
import type { Parameters } from '../query/parameters.ts';

/** What an upload consists of. */
export interface ReadUpload {
  readonly title: string;
  readonly files: RequestFiles;
}

/** Parameters such as `codecs` are ignored: the subgraph looks at the content. */
const RAW = /^(video\/[\w.+-]+)[\t ]*(?:;|$)/i;
const MAP = JSON.stringify({ file: ['variables.file'] });
/** What the parts of a form add to the file. */
const OVERHEAD_BYTES = 64 * 1024;

/**
 * Reads an upload: a form with the fields `title` and `file`, in this order, or the file itself with `?title=`. Throws UNSUPPORTED_MEDIA_TYPE,
 * PAYLOAD_TOO_LARGE or VALIDATION_ERROR. `maxBytes` limits the file.
 */
export async function readUpload(
  request: IncomingMessage,
  { query, maxBytes }: { readonly query: Parameters; readonly maxBytes: number },
  faults: FieldFault[],
): Promise<ReadUpload> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
  markStreamed(request);
  if (encoding.toLowerCase() !== 'identity')
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding is not supported for request bodies. Send the body uncompressed.');
  const isForm = isMultipart(type);
  const raw = RAW.exec(type)?.[1];
  if (!isForm && raw === undefined) throw fail('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be multipart/form-data or video/*.');
  if (Number(length) > maxBytes + (isForm ? OVERHEAD_BYTES : 0))
    throw fail('PAYLOAD_TOO_LARGE', `The file exceeds the limit of ${String(maxBytes)} bytes.`);
  const named = query.take('title');
  if (raw === undefined) return readForm(request, type, faults);
  if (named === undefined) faults.push({ field: 'title', message: 'is required: send it as a query parameter' });
  const boundary = `trestle-${randomUUID()}`;
  const files = toFiles(request, { boundary, before: toFileStart('file', raw), after: toEnd(boundary) });
  return { title: named ?? '', files };
}

/** The parts behind the title are passed on as they are: the subgraph that stores the file checks them. */
async function readForm(request: IncomingMessage, type: string, faults: FieldFault[]): Promise<ReadUpload> {
  const boundary = readBoundary(type);
  if (boundary === undefined) throw fail('VALIDATION_ERROR', 'The content type multipart/form-data must have a valid boundary.');
  const title = await readTitle(request, boundary);
  if (await isLastDelimiter(request)) faults.push({ field: 'file', message: 'is required: send it as the part behind `title`' });
  return { title, files: toFiles(request, { boundary, before: '', after: '' }) };
}

async function readTitle(request: IncomingMessage, boundary: string): Promise<string> {
  try {
    const [title = ''] = await readParts(request, boundary, ['title']);
    return title;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'VALIDATION_ERROR') throw error;
    const details = [{ field: 'title', message: 'is required, in UTF-8: the form must begin with it' }];
    throw fail('VALIDATION_ERROR', error.message, { details, cause: error });
  }
}

interface Framing {
  readonly boundary: string;
  readonly before: string;
  readonly after: string;
}

function toFiles(request: IncomingMessage, { boundary, before, after }: Framing): RequestFiles {
  async function* read(operations: string) {
    yield Buffer.from(toHead(boundary, { operations, map: MAP }) + before);
    yield* readJoined(request);
    if (after !== '') yield Buffer.from(after);
  }
  return { contentType: `multipart/form-data; boundary="${boundary}"`, toBody: read };
}
