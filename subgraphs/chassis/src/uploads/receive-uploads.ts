/** Receives the files of GraphQL multipart requests before their operations are executed, so that no slow client holds up other mutations. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBearerToken } from '@trestle/identity/credentials/credential';
import type { Caller } from '@trestle/identity';
import type { Log } from '@trestle/log';
import { isMultipart } from '@trestle/multipart/boundary';
import { fail, toFault } from '@trestle/schema/errors';
import { markStreamed } from '@trestle/service/http1/streamed-body';
import type { CallerVerifier } from '../request/context.ts';
import { sendFault } from '../request/send-fault.ts';
import { type UploadOptions, readFiles } from './read-files.ts';
import { createUploadSlots } from './upload-slots.ts';
import type { UploadedFile } from './uploaded-file.ts';

/** What the middleware is created from. */
export interface ReceiveOptions {
  /** Undefined for a subgraph without files. */
  readonly uploads: UploadOptions | undefined;
  readonly verifier: CallerVerifier;
  readonly log: Log;
  readonly requestIdOf: (response: ServerResponse) => string;
}

/** The bridge and the gateway. A subgraph has no other clients. */
const HOPS = 2;

type Received = IncomingMessage & { body?: unknown };
type Middleware = (request: Received, response: ServerResponse, next: () => void) => void;

/** Creates the middleware. It stores the operation in `request.body`, with an `UploadedFile` in place of each file. */
export function receiveUploads({ uploads, verifier, log, requestIdOf }: ReceiveOptions): Middleware {
  const slots = createUploadSlots();
  const receive = async (request: Received, response: ServerResponse): Promise<void> => {
    if (!uploads) throw fail('UNSUPPORTED_MEDIA_TYPE', 'The subgraph accepts no files.');
    const { userId } = requireCaller(request, verifier);
    const { operations, files } = await slots.run(userId, () => readFiles(request, uploads, log));
    request.body = operations;
    discardAfter(response, { files, uploads, log });
  };
  return (request, response, next) => {
    if (!isMultipart(request.headers['content-type'])) {
      next();
      return;
    }
    markStreamed(request, HOPS);
    receive(request, response).then(next, (error: unknown) => {
      refuse({ request, response }, { error, log, requestId: requestIdOf(response) });
    });
  };
}

/** Nobody can send files without a caller. Throws UNAUTHORIZED, before a byte of a file is read. */
function requireCaller(request: IncomingMessage, verifier: CallerVerifier): Caller {
  const token = readBearerToken(request.rawHeaders);
  const caller = token === undefined ? null : verifier.verify(token);
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required.');
  return caller;
}

/** Deletes what no mutation has kept. A process that is killed before leaves it to the sweep. */
function discardAfter(
  response: ServerResponse,
  { files, uploads, log }: { readonly files: readonly UploadedFile[]; readonly uploads: UploadOptions; readonly log: Log },
): void {
  const discard = () => {
    for (const file of files)
      if (file.discard())
        uploads.files.delete(file.key).catch((error: unknown) => {
          log.warn('could not delete a file that was not used', { error });
        });
  };
  if (response.closed) discard();
  else response.once('close', discard);
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function refuse({ request, response }: Exchange, { error, log, requestId }: { error: unknown; log: Log; requestId: string }): void {
  if (response.destroyed) return;
  const fault = toFault(error);
  if (fault.code === 'INTERNAL_ERROR') log.error('could not receive files', { requestId, code: fault.code, error: fault.cause });
  sendFault({ request, response }, fault, requestId);
}
