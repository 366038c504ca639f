/** The thread of `media-thread.ts`: parses one file, whose bytes it asks for, and ends. It has no connection to anything else. */
import { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import type { ByteRange } from '@trestle/files/file-store';
import { type ErrorCode, toFault } from '@trestle/schema/errors';
import { type Media, readMedia } from './read-media.ts';
import type { MediaFile } from './read-mp4-duration.ts';

/** A range of the file that the thread asks for. */
export interface MediaRequest extends ByteRange {
  readonly kind: 'read';
  readonly id: number;
}

/** What the thread has found. */
export type MediaReply =
  { readonly kind: 'media'; readonly media: Media } | { readonly kind: 'fault'; readonly code: ErrorCode; readonly message: string };

/** The bytes of a range; undefined for a file that does not exist. */
interface MediaBytes {
  readonly id: number;
  readonly bytes: Uint8Array | undefined;
}

const PART_BYTES = 1024 * 1024;

const port = parentPort;
if (!port) throw new Error('media-worker.js must run in a worker thread.');
const file = workerData as MediaFile;
const waiting = new Map<number, (bytes: Uint8Array | undefined) => void>();
let requests = 0;

port.on('message', ({ id, bytes }: MediaBytes) => {
  waiting.get(id)?.(bytes);
  waiting.delete(id);
});

function read(start: number, end: number): Promise<Uint8Array | undefined> {
  const id = requests++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    port?.postMessage({ kind: 'read', id, start, end } satisfies MediaRequest);
  });
}

async function open(_: string, { start, end }: ByteRange = { start: 0, end: file.size - 1 }): Promise<Readable | undefined> {
  const next = (at: number) => read(at, Math.min(end, at + PART_BYTES - 1));
  const first = await next(start);
  if (!first) return undefined;
  async function* content(bytes: Uint8Array) {
    let at = start;
    for (let part: Uint8Array | undefined = bytes; part && part.length > 0; part = at <= end ? await next(at) : undefined) {
      at += part.length;
      yield Buffer.from(part.buffer, part.byteOffset, part.length);
    }
  }
  return Readable.from(content(first), { objectMode: false });
}

const reply = await readMedia({ open }, file, new AbortController().signal).then(
  (media): MediaReply => ({ kind: 'media', media }),
  (error: unknown): MediaReply => {
    const { code, message } = toFault(error);
    return { kind: 'fault', code, message };
  },
);
port.postMessage(reply);
port.close();
