/**
 * Receives the bytes of uploads from the bridge: `POST /uploads/<id>/<offset>`, or completes a direct upload: `POST /uploads/<id>/direct`. Whose upload it is was decided by the operation that the bridge has
 * sent before; here only its ticket counts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createUploadSlots } from '@trestle/chassis/uploads/upload-slots';
import { isTicketValid } from '@trestle/files/ticket';
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { Log } from '@trestle/log';
import { ERRORS, fail, toFault } from '@trestle/schema/errors';
import { endBeforeBody, markStreamed } from '@trestle/service/http1/streamed-body';
import { completeDirectUpload } from './complete-upload.ts';
import { receiveParts } from './receive-parts.ts';
import { type UploadParts, type UploadProgress, changed } from './upload-parts.ts';

/** The path at which the endpoint is mounted. */
export const UPLOADS_PATH = '/uploads/';

/** What the endpoint is created from. */
export interface UploadEndpointOptions extends UploadParts {
  /** The key that the processes of this system share; undefined to receive nothing. */
  readonly ticketKey: string | undefined;
  readonly log: Log;
}

const PATH = /^\/uploads\/(upl_[0-9a-z]{26})\/(\d{1,10}|direct)$/;
/** The bridge. */
const HOPS = 1;

/** Creates the endpoint. It answers with the progress, or with the parts of the error that clients get; 404 to every request without a valid ticket for its path. */
export function createUploadEndpoint({ ticketKey, log, ...parts }: UploadEndpointOptions): Endpoint {
  const slots = createUploadSlots();
  const receive = async (request: IncomingMessage): Promise<UploadProgress> => {
    const { url = '', headers, method } = request;
    const [, id, offset] = PATH.exec(url) ?? [];
    const isAllowed =
      ticketKey !== undefined &&
      method === 'POST' &&
      isTicketValid(ticketKey, url, { authorization: headers.authorization, now: Date.now() });
    const upload = isAllowed && id !== undefined ? await parts.stores.uploads.find(id) : null;
    if (!upload) throw fail('NOT_FOUND', 'The upload does not exist.');
    const isDirect = offset === 'direct';
    if (!isDirect && (upload.videoId !== null || upload.offset !== Number(offset))) throw changed();
    return slots.run(upload.ownerId, async () => {
      if (isDirect) return { offset: upload.size, videoId: await completeDirectUpload(parts, upload) };
      markStreamed(request, HOPS);
      return receiveParts(parts, upload, request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
    });
  };
  return (request, response) => {
    receive(request).then(
      (progress) => {
        answer({ request, response }, 200, progress);
      },
      (error: unknown) => {
        const { code, message, cause, retryAfterSeconds, rateLimit } = toFault(error);
        if (code === 'INTERNAL_ERROR') log.error('could not receive an upload', { code, error: cause });
        answer({ request, response }, ERRORS[code].status, { code, message, retryAfterSeconds, rateLimit });
      },
    );
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function answer({ request, response }: Exchange, status: number, content: object): void {
  if (response.destroyed) return;
  const body = JSON.stringify(content);
  const isUnread = !request.complete;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(isUnread && { connection: 'close' }),
  });
  endBeforeBody(request, response, body);
}
