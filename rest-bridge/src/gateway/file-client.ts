/** Reads files from the subgraphs that keep them, and sends the bytes of uploads to them. Subgraphs are not public: the bridge asks with a ticket of its own. */
import type { Readable } from 'node:stream';
import { signTicket } from '@trestle/files/ticket';
import { ERRORS, type FaultOptions, fail, isErrorCode } from '@trestle/schema/errors';
import { Pool as UndiciPool } from '@trestle/http-client/undici';
import type { Pool } from 'undici';
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { FileContent } from '../http/response.ts';
import type { ByteRange } from '../http/range.ts';
import { DownloadPlaces } from './download-places.ts';

/** Connections to one subgraph for downloads, and others for uploads: neither waits for the other. */
const DOWNLOADS = 512;
const UPLOADS = 256;
/** Clients behind one address count as one. A page by HTTP/2 requests up to 128 files at once. */
const DOWNLOADS_OF_CLIENT = 64;
const WAITING = 1024;
const WAITING_OF_CLIENT = 128;
const CONNECT_TIMEOUT_MS = 2000;

/** Where files are read. */
export interface FileClientOptions {
  /** The origins of the subgraphs by their names; undefined for one that serves no files. */
  readonly origins: Readonly<Record<FileContent['owner'], string | undefined>>;
  /** The key that the processes of this system share. */
  readonly ticketKey: string | undefined;
  readonly timeoutMs: number;
}

/** Who downloads a file. */
export interface Downloader {
  /** The id of the client. */
  readonly client: string;
  /** Ends the download, and the wait for it, when the client disconnects. */
  readonly cancellation: Cancellation;
}

/** A download that may take place. */
export interface Download {
  /** Opens the bytes of a range, once those of the one before are read. Rejects with NOT_FOUND when the file was replaced or deleted, or UPSTREAM_ERROR. */
  readonly open: (range: ByteRange) => Promise<Readable>;
  /** To be called when no more ranges are opened and the last one is read. */
  readonly end: () => void;
}

/** Reads files. */
export interface FileClient {
  /**
   * Begins a download as soon as the client and the subgraph have fewer in progress than they may. Rejects with SERVICE_UNAVAILABLE after `timeoutMs`, or
   * when too many wait.
   */
  readonly begin: (file: FileContent, downloader: Downloader) => Promise<Download>;
  /**
   * Sends the next bytes of an upload to the content subgraph, or completes one. Resolves when they are stored. Rejects with the errors of the subgraph,
   * SERVICE_UNAVAILABLE or UPSTREAM_ERROR.
   */
  readonly append: (path: string, body: Readable | undefined) => Promise<UploadProgress>;
  readonly close: () => Promise<void>;
}

/** How far an upload is. */
export interface UploadProgress {
  readonly offset: number;
  /** Null until the upload is complete. */
  readonly videoId: string | null;
}

/** How the subgraph reports an error. */
interface RefusedUpload extends Pick<FaultOptions, 'retryAfterSeconds' | 'rateLimit'> {
  readonly code: unknown;
  readonly message: string;
}

/** The last bytes of a large upload are answered when all of it has been verified and written as one file. */
const APPEND_TIMEOUT_MS = 120_000;

/** The connections to a subgraph that keeps files. */
interface FileOwner {
  readonly downloads: Pool;
  readonly uploads: Pool;
  readonly places: DownloadPlaces;
}

/** Creates the client. */
export function createFileClient({ origins, ticketKey, timeoutMs }: FileClientOptions): FileClient {
  const owners = new Map(
    Object.entries(origins).flatMap(([owner, origin]) => (origin === undefined ? [] : [[owner, openOwner(origin, timeoutMs)] as const])),
  );
  return {
    async begin(file, { client, cancellation }) {
      const owner = owners.get(file.owner);
      if (!owner || ticketKey === undefined) throw unavailable();
      const end = await owner.places.take(client, cancellation);
      const disconnected = new AbortController();
      cancellation.add(disconnected);
      const { signal } = disconnected;
      return { end, open: (range) => openRange(owner.downloads, { file, range, ticketKey, signal }) };
    },
    async append(path, body) {
      const pool = owners.get('content')?.uploads;
      if (!pool || ticketKey === undefined) throw unavailable();
      const headers = { authorization: signTicket(ticketKey, path, Date.now()) };
      const request = { method: 'POST', path, headers, body: body ?? null, headersTimeout: APPEND_TIMEOUT_MS } as const;
      const { statusCode, text } = await send(pool, request).catch((cause: unknown) => {
        throw fail('UPSTREAM_ERROR', 'The upload was interrupted. Read its offset and go on from there.', { cause });
      });
      if (statusCode === 200) return JSON.parse(text) as UploadProgress;
      if (statusCode === ERRORS.REQUEST_TIMEOUT.status)
        throw fail('REQUEST_TIMEOUT', 'The request did not arrive completely in time. Send it again.');
      const { code, message, ...options } = JSON.parse(text) as RefusedUpload;
      throw fail(isErrorCode(code) ? code : 'UPSTREAM_ERROR', message, options);
    },
    close: async () => {
      await Promise.all([...owners.values()].flatMap(({ downloads, uploads }) => [downloads.destroy(), uploads.destroy()]));
    },
  };
}

/** A range of a file, and by which right it is read. */
interface RangeRequest {
  readonly file: FileContent;
  readonly range: ByteRange;
  readonly ticketKey: string;
  readonly signal: AbortSignal;
}

/** Sends the request at once: there are as many connections as places, so that the ticket does not expire before it is used. */
async function openRange(
  pool: Pool,
  { file: { path, sha256 }, range: { start, end }, ticketKey, signal }: RangeRequest,
): Promise<Readable> {
  const target = `/files${path}/${sha256}`;
  const headers = { authorization: signTicket(ticketKey, target, Date.now()), range: `bytes=${String(start)}-${String(end)}` };
  const { statusCode, body } = await pool.request({ method: 'GET', path: target, headers, signal }).catch((cause: unknown) => {
    throw fail('UPSTREAM_ERROR', 'The content is unavailable. Retry later.', { cause });
  });
  if (statusCode === 200) return body;
  await body.dump();
  throw statusCode === 404
    ? fail('NOT_FOUND', 'The content does not exist.')
    : fail('UPSTREAM_ERROR', 'The content is unavailable. Retry later.');
}

async function send(pool: Pool, request: Parameters<Pool['request']>[0]): Promise<{ statusCode: number; text: string }> {
  const { statusCode, body } = await pool.request(request);
  return { statusCode, text: await body.text() };
}

function unavailable(): Error {
  return fail('SERVICE_UNAVAILABLE', 'Files are not available on this server.');
}

function openOwner(origin: string, timeoutMs: number): FileOwner {
  const places = new DownloadPlaces({
    places: DOWNLOADS,
    placesOfClient: DOWNLOADS_OF_CLIENT,
    waiting: WAITING,
    waitingOfClient: WAITING_OF_CLIENT,
    waitMs: timeoutMs,
  });
  return { places, downloads: openPool(origin, timeoutMs, DOWNLOADS), uploads: openPool(origin, timeoutMs, UPLOADS) };
}

function openPool(origin: string, timeoutMs: number, connections: number): Pool {
  return new UndiciPool(new URL(origin).origin, {
    connections,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    // Not while a client reads slowly: undici does not count the time in which it is not read from.
    bodyTimeout: timeoutMs,
  });
}
