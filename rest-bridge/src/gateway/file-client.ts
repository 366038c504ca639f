/** Reads files from the subgraphs that keep them, and sends the bytes of uploads to them. Subgraphs are not public: the bridge asks with a ticket of its own. */
import type { Readable } from 'node:stream';
import { signTicket } from '@trestle/files/ticket';
import { ERRORS, fail, isErrorCode } from '@trestle/schema/errors';
import { Pool as UndiciPool } from '@trestle/http-client/undici';
import type { Pool } from 'undici';
import type { FileContent } from '../http/response.ts';
import type { ByteRange } from '../http/range.ts';

const CONNECTIONS = 256;
const CONNECT_TIMEOUT_MS = 2000;

/** Where files are read. */
export interface FileClientOptions {
  /** The origins of the subgraphs by their names; undefined for one that serves no files. */
  readonly origins: Readonly<Record<FileContent['owner'], string | undefined>>;
  /** The key that the processes of this system share. */
  readonly ticketKey: string | undefined;
  readonly timeoutMs: number;
}

/** Reads files. */
export interface FileClient {
  /** Opens the bytes of a range. Rejects with NOT_FOUND when the file was replaced or deleted, SERVICE_UNAVAILABLE or UPSTREAM_ERROR. */
  readonly open: (file: FileContent, range: ByteRange) => Promise<Readable>;
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

/** The last bytes of a large upload are answered when all of it has been verified and written as one file. */
const APPEND_TIMEOUT_MS = 120_000;

/** Creates the client. */
export function createFileClient({ origins, ticketKey, timeoutMs }: FileClientOptions): FileClient {
  const pools = new Map(
    Object.entries(origins).flatMap(([owner, origin]) => (origin === undefined ? [] : [[owner, openPool(origin, timeoutMs)] as const])),
  );
  return {
    async open({ owner, path, sha256 }, { start, end }) {
      const pool = pools.get(owner);
      if (!pool || ticketKey === undefined) throw unavailable();
      const target = `/files${path}/${sha256}`;
      const headers = { authorization: signTicket(ticketKey, target, Date.now()), range: `bytes=${String(start)}-${String(end)}` };
      const { statusCode, body } = await pool.request({ method: 'GET', path: target, headers }).catch((cause: unknown) => {
        throw fail('UPSTREAM_ERROR', 'The content is unavailable. Retry later.', { cause });
      });
      if (statusCode === 200) return body;
      await body.dump();
      throw statusCode === 404
        ? fail('NOT_FOUND', 'The content does not exist.')
        : fail('UPSTREAM_ERROR', 'The content is unavailable. Retry later.');
    },
    async append(path, body) {
      const pool = pools.get('content');
      if (!pool || ticketKey === undefined) throw unavailable();
      const headers = { authorization: signTicket(ticketKey, path, Date.now()) };
      const request = { method: 'POST', path, headers, body: body ?? null, headersTimeout: APPEND_TIMEOUT_MS } as const;
      const { statusCode, text } = await send(pool, request).catch((cause: unknown) => {
        throw fail('UPSTREAM_ERROR', 'The upload was interrupted. Read its offset and go on from there.', { cause });
      });
      if (statusCode === 200) return JSON.parse(text) as UploadProgress;
      if (statusCode === ERRORS.REQUEST_TIMEOUT.status)
        throw fail('REQUEST_TIMEOUT', 'The request did not arrive completely in time. Send it again.');
      const { code, message } = JSON.parse(text) as { code: unknown; message: string };
      throw fail(isErrorCode(code) ? code : 'UPSTREAM_ERROR', message);
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

async function send(pool: Pool, request: Parameters<Pool['request']>[0]): Promise<{ statusCode: number; text: string }> {
  const { statusCode, body } = await pool.request(request);
  return { statusCode, text: await body.text() };
}

function unavailable(): Error {
  return fail('SERVICE_UNAVAILABLE', 'Files are not available on this server.');
}

function openPool(origin: string, timeoutMs: number): Pool {
  return new UndiciPool(new URL(origin).origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    // Not while a client reads slowly: undici does not count the time in which it is not read from.
    bodyTimeout: timeoutMs,
  });
}
