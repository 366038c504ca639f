/**
 * Where files are kept: the interface of every store. Types, and what all stores have in common.
 *
 * The order of writes that keeps files and rows consistent, whenever a process is killed: a file is stored under a new key and is durable
 * before a row names it; a row is deleted, or names another key, before the file is deleted. So a row never names a file that does not
 * exist, and the only thing that a crash can leave is a file without a row, which `sweep-files.ts` deletes later.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fail } from '@trestle/schema/errors';

/** What a store knows of a file without reading it. */
export interface FileStat {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** When the file became visible. */
  readonly modifiedAt: Date;
}

/** A file that was just stored. */
export interface StoredFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly sha256: string;
}

/** The bytes from `start` to `end`, both inclusive, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The limits of one write. */
export interface PutOptions {
  readonly maxBytes: number;
  /** Aborts the write; nothing is stored then. */
  readonly signal?: AbortSignal | undefined;
}

/** A request by which a client stores a file itself, without the processes of this system in between. */
export interface DirectUpload {
  readonly method: 'PUT';
  readonly url: string;
  /** Headers that the request must have, names and values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}

/** What a direct upload is limited to. */
export interface DirectUploadOptions {
  /** The exact size of the file, in bytes. */
  readonly size: number;
  /** The time from which the request is valid, which is not in the future. The same time gives the same request. */
  readonly signedAt: Date;
  /** Counted from `signedAt`. */
  readonly expiresInSeconds: number;
}

/**
 * Keeps files under keys: paths such as `videos/vid_1`, of letters, digits, `_`, `-` and `.`. A key that was never given to a caller is not
 * reachable by clients. Every method rejects with the store's own error when the store does not respond.
 */
export interface FileStore {
  /**
   * Stores the content under the key and resolves when it is durable; until then nothing is visible under the key. Reads `content` no faster
   * than it is written. Rejects with PAYLOAD_TOO_LARGE beyond `maxBytes`, with SERVICE_UNAVAILABLE when no space is left, and with the
   * errors of `content`; then nothing is stored.
   */
  readonly put: (key: string, content: AsyncIterable<Uint8Array>, options: PutOptions) => Promise<StoredFile>;
  /** Opens a file, or the bytes of a range within it. Resolves with undefined when there is no such file. */
  readonly open: (key: string, range?: ByteRange) => Promise<Readable | undefined>;
  /** Resolves with undefined when there is no such file. */
  readonly stat: (key: string) => Promise<FileStat | undefined>;
  /** Deletes a file; does nothing when there is none. */
  readonly delete: (key: string) => Promise<void>;
  /** Lists the files whose keys start with `prefix`, in no particular order. */
  readonly list: (prefix: string) => AsyncIterable<FileStat>;
  /** Deletes what unfinished writes have left that began before `before`. */
  readonly removeUnfinished: (before: Date) => Promise<void>;
  /** Returns a request by which a client stores one file itself; undefined when the store has no address that clients can reach. */
  readonly presignPut: ((key: string, options: DirectUploadOptions) => Promise<DirectUpload>) | undefined;
  readonly close: () => void;
}

const KEY = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/;
const MAX_KEY_CHARACTERS = 200;

/** Throws an Error for an invalid key. Keys are made by this system, so it is a fault of the code. */
export function checkKey(key: string): void {
  if (key.length > MAX_KEY_CHARACTERS || !KEY.test(key)) throw new Error(`Invalid key of a file: ${JSON.stringify(key)}`);
}

/** Counts and hashes content while it is read. */
export interface Measure {
  /** Yields the same bytes. Throws PAYLOAD_TOO_LARGE once they exceed the limit, and the reason of the signal when it is aborted. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Returns the size in bytes and the SHA-256, once all content was read. */
  readonly result: () => { readonly size: number; readonly sha256: string };
  /** Returns why `content` ended early; undefined unless it did. */
  readonly failure: () => unknown;
}

/** Creates the measure of content that is stored. */
export function measure(content: AsyncIterable<Uint8Array>, { maxBytes, signal }: PutOptions): Measure {
  const hash = createHash('sha256');
  let size = 0;
  let failure: unknown;
  async function* read() {
    try {
      for await (const chunk of content) {
        signal?.throwIfAborted();
        size += chunk.length;
        if (size > maxBytes) throw tooLarge(maxBytes);
        hash.update(chunk);
        yield chunk;
      }
      signal?.throwIfAborted();
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return { content: read(), result: () => ({ size, sha256: hash.digest('hex') }), failure: () => failure };
}

/** Returns PAYLOAD_TOO_LARGE for a file that exceeds the limit. */
export function tooLarge(maxBytes: number): Error {
  return fail('PAYLOAD_TOO_LARGE', `The file exceeds the limit of ${String(maxBytes)} bytes.`);
}
