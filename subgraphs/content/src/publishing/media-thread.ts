/** Reads media files in a thread of their own, with limits of time and memory: parsers meet files that were made to harm them. */
import { Worker } from 'node:worker_threads';
import type { FileStore } from '@trestle/files/file-store';
import { fail } from '@trestle/schema/errors';
import type { MediaReply, MediaRequest } from './media-worker.ts';
import { type Media, unreadable } from './read-media.ts';
import type { MediaFile } from './read-mp4-duration.ts';

/** The options of one file. */
export interface ReadOptions {
  readonly signal: AbortSignal;
  /** How long the file may take, reading included; default: a minute. */
  readonly timeoutMs?: number;
}

/** Tests, which run this file as TypeScript, start the bundle: it loads in a third of the time. */
const FILE = import.meta.url.endsWith('.ts') ? 'dist/bundle/media-worker.js' : 'dist/publishing/media-worker.js';
const WORKER = new URL(`../../${FILE}`, import.meta.url);
const TIMEOUT_MS = 60_000;
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/**
 * Reads what a file is. Rejects with BUSINESS_RULE_VIOLATION when it is no video, has no duration, or takes too much time or memory, and with the
 * errors of the store. Whatever the file contains, this process goes on.
 */
export async function readMediaInThread(
  files: Pick<FileStore, 'open'>,
  file: MediaFile,
  { signal, timeoutMs = TIMEOUT_MS }: ReadOptions,
): Promise<Media> {
  signal.throwIfAborted();
  // It gets no environment: no addresses, and no secrets.
  const worker = new Worker(WORKER, { workerData: file, resourceLimits: LIMITS, env: {}, stdout: true, stderr: true });
  for (const output of [worker.stdout, worker.stderr]) output.resume();
  let abort: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Media>((resolve, reject) => {
      abort = () => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      timer = setTimeout(() => {
        reject(unreadable(new Error(`The file was not read within ${String(timeoutMs)} ms`)));
      }, timeoutMs);
      worker.on('message', (message: MediaReply | MediaRequest) => {
        if (message.kind === 'media') resolve(message.media);
        else if (message.kind === 'fault') reject(fail(message.code, message.message));
        else answer(worker, files, { key: file.key, ...message }).catch(reject);
      });
      // Without memory, or with an error that nothing has caught.
      worker.on('error', (cause) => {
        reject(unreadable(cause));
      });
      worker.on('exit', () => {
        reject(unreadable(new Error('The thread ended')));
      });
    });
  } finally {
    clearTimeout(timer);
    if (abort) signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

/** Sends the bytes of a range to the thread; undefined for a file that does not exist. */
async function answer(
  worker: Worker,
  files: Pick<FileStore, 'open'>,
  { id, key, start, end }: MediaRequest & Pick<MediaFile, 'key'>,
): Promise<void> {
  const part = await files.open(key, { start, end });
  const chunks: Buffer[] = [];
  if (part) for await (const chunk of part as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = part && Uint8Array.from(Buffer.concat(chunks));
  worker.postMessage({ id, bytes }, bytes ? [bytes.buffer] : []);
}
