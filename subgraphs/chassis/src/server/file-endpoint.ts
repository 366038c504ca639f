/**
 * Serves the bytes of files to the bridge: `GET /files/<noun>/<id>/<sha256>`, one range at most. Who may see a file is decided by the operation that the
 * bridge has sent before; here only its ticket counts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ByteRange, FileStore } from '@trestle/files/file-store';
import { isTicketValid } from '@trestle/files/ticket';
import type { Log } from '@trestle/log';
import type { Endpoint } from './subgraph.ts';

/** The path at which the endpoint is mounted. */
export const FILES_PATH = '/files/';

/** A file as its row describes it. */
export interface NamedFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

/** What the endpoint is created from. */
export interface FileEndpointOptions {
  readonly files: FileStore;
  /** The key that the processes of this system share; undefined to serve nothing. */
  readonly ticketKey: string | undefined;
  /** Returns the file of a resource with this id; undefined without one. */
  readonly find: (id: string) => Promise<NamedFile | undefined>;
  readonly log: Log;
}

const PATH = /^\/files\/[a-z]+\/([a-z]{3}_[0-9a-z]{26})\/([0-9a-f]{64})$/;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;

/** Creates the endpoint. It answers 404 to every request that has no valid ticket for its path. */
export function createFileEndpoint({ files, ticketKey, find, log }: FileEndpointOptions): Endpoint {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', headers } = request;
    const [, id, sha256] = PATH.exec(url) ?? [];
    const { authorization, range } = headers;
    const isAllowed = ticketKey !== undefined && isTicketValid(ticketKey, url, { authorization, now: Date.now() });
    const file = isAllowed && id !== undefined ? await find(id) : undefined;
    const part = file && toRange(range, file.size);
    const content = file && file.sha256 === sha256 && part ? await files.open(file.key, range === undefined ? undefined : part) : undefined;
    if (!file || !part || !content) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-length': part.end - part.start + 1, 'content-type': 'application/octet-stream' });
    await pipeline(content, response);
  };
  return (request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A client that stops reading is no fault of this process.
      if (!response.headersSent) log.error('could not serve a file', { error });
      response.destroy();
    });
  };
}

/** Returns the whole file without a range; undefined for a range outside of it. */
function toRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return { start: 0, end: size - 1 };
  const [, start = '', end = ''] = RANGE.exec(header) ?? [];
  return start !== '' && Number(start) <= Number(end) && Number(end) < size ? { start: Number(start), end: Number(end) } : undefined;
}
