/** Passes the bytes of an upload on to the subgraph while they arrive, once the gateway has said that it is the caller's own. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { fail } from '@trestle/schema/errors';
import { readJoined } from '@trestle/service/http1/joined-pieces';
import { markStreamed } from '@trestle/service/http1/streamed-body';
import type { FileClient } from '../gateway/file-client.ts';
import type { RouteResponse } from '../http/response.ts';
import { PART_TYPE, readUploadOffset } from '../http/tus.ts';
import type { AdmittedRequest } from './context.ts';

/** Declares that the body is streamed. Throws UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR. */
export function requirePart(request: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  markStreamed(request);
  if (type.toLowerCase() !== PART_TYPE || encoding.toLowerCase() !== 'identity')
    throw fail('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${PART_TYPE}, without a content coding.`);
  readUploadOffset(request.headers);
}

/**
 * Returns the response once the bytes are stored. Throws CONFLICT for another offset than the current one, PAYLOAD_TOO_LARGE for more bytes than
 * were declared, and the errors of the subgraph.
 */
export async function continueUpload(
  { context: { request }, target: { prefix } }: Pick<AdmittedRequest, 'context' | 'target'>,
  { upload, ...response }: RouteResponse,
  files: FileClient,
): Promise<RouteResponse> {
  if (!upload) return response;
  const { id, offset, size, isDirect } = upload;
  if (isDirect) {
    const { videoId } = await files.append(`/uploads/${id}/direct`, undefined);
    return { ...response, headers: { location: `${prefix}/videos/${String(videoId)}` } };
  }
  const sent = readUploadOffset(request.headers);
  if (sent !== offset)
    throw fail('CONFLICT', `Upload-Offset is ${String(sent)}; ${String(offset)} bytes are stored.`, { retryAfterSeconds: 1 });
  if (Number(request.headers['content-length'] ?? 0) > size - offset)
    throw fail('PAYLOAD_TOO_LARGE', `The upload was declared to have ${String(size)} bytes, of which ${String(size - offset)} are left.`);
  const body = Readable.from(readJoined(request));
  const { offset: stored, videoId } = await files.append(`/uploads/${id}/${String(offset)}`, body);
  return {
    ...response,
    headers: {
      ...response.headers,
      'upload-offset': String(stored),
      ...(videoId !== null && { 'content-location': `${prefix}/videos/${videoId}` }),
    },
  };
}
