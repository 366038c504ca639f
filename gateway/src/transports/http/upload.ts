/** Reads the beginning of a GraphQL multipart request: https://github.com/jaydenseric/graphql-multipart-request-spec. */
import type { IncomingMessage } from 'node:http';
import { readBoundary } from '@trestle/multipart/boundary';
import { parseMap, parseOperations, placeFiles } from '@trestle/multipart/place-files';
import { createFileCheck, rejectMissing } from '@trestle/multipart/file-check';
import { isLastDelimiter, readHead } from '@trestle/multipart/read-head';
import { fail } from '@trestle/schema/errors';
import { passedClientOf } from '@trestle/service/clients/client-id';
import { readJoined } from '@trestle/service/http1/joined-pieces';
import { markStreamed } from '@trestle/service/http1/streamed-body';
import { parseJson } from '../../request/json.ts';
import { type Parameters, readParameters } from '../../request/parameters.ts';
import { hasPreflightedHeader } from '../../request/preflighted.ts';
import { FilePlaceholder, Upload, tooLarge } from '../../request/upload.ts';
import { UnsupportedCoding } from './content-coding.ts';

/** An operation with files. */
export interface UploadRequest {
  /** Has placeholders in place of the files. */
  readonly parameters: Parameters;
  readonly upload: Upload;
}

/** What the parts add to the bytes of the files. */
const OVERHEAD_BYTES = 2 * 1024 * 1024;

/**
 * Reads the parameters and leaves the files unread. Rejects with FORBIDDEN for what the form of another site could send, UNSUPPORTED_MEDIA_TYPE,
 * PAYLOAD_TOO_LARGE and VALIDATION_ERROR.
 */
export async function readUpload(request: IncomingMessage, maxBytes: number): Promise<UploadRequest> {
  const { 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = request.headers;
  markStreamed(request, passedClientOf(request) ? 1 : 0);
  if (!hasPreflightedHeader(request.headers))
    throw fail('FORBIDDEN', 'A multipart request needs a credential in a header, or the header `Apollo-Require-Preflight: 1`.');
  if (encoding !== undefined && encoding !== 'identity')
    throw new UnsupportedCoding('A request with files must be sent uncompressed, without Content-Encoding.', 'identity');
  if (Number(length) > maxBytes + OVERHEAD_BYTES) throw tooLarge(maxBytes);
  const boundary = readBoundary(type);
  if (boundary === undefined) throw fail('VALIDATION_ERROR', 'The content type multipart/form-data must have a valid boundary.');
  const head = await readHead(request, boundary);
  const operations = parseOperations(head.operations, parseJson);
  const map = parseMap(head.map, parseJson);
  placeFiles(operations, map, (name) => new FilePlaceholder(name));
  if (await isLastDelimiter(request)) rejectMissing(map.keys());
  const check = createFileCheck(boundary, map.keys());
  return {
    parameters: readParameters(operations),
    upload: new Upload(readJoined(request), { boundary, check, maxBytes: maxBytes + OVERHEAD_BYTES }),
  };
}
