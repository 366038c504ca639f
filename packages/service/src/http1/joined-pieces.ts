/** Reads bodies that are passed on, so that a client that sends them in many small chunks costs neither this process nor the next ones much. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** Another piece may follow one of this size at once. */
const LARGE_BYTES = 16 * 1024;
/** How long what follows a smaller piece is collected. */
const JOIN_MS = 5;
/** How much longer for each chunk that has arrived: several times what reading one takes. */
const CHUNK_MS = 0.02;
const MAX_WAIT_MS = 2000;

/**
 * Yields the body in pieces: what has arrived. After a small piece it waits, so that the next one has what arrives meanwhile; Node.js reads no more
 * than fits into the buffer of the request. The request is not destroyed when the reader returns, because the response goes over the same connection.
 */
export async function* readJoined(request: IncomingMessage): AsyncGenerator<Buffer> {
  const takeChunks = countChunks(request);
  for await (const first of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    // Node.js 26 yields each chunk by itself.
    const others = request.readableLength > 0 ? (request.read(request.readableLength) as Buffer | null) : null;
    const piece = others === null ? first : Buffer.concat([first, others]);
    yield piece;
    const waitMs = (piece.length < LARGE_BYTES ? JOIN_MS : 0) + takeChunks() * CHUNK_MS;
    if (waitMs >= 1 && !request.complete) await wait(Math.min(waitMs, MAX_WAIT_MS));
  }
}

/**
 * Returns a function that returns how many chunks have arrived since its last call. Node.js pushes each by itself, and emits no event for one that
 * waits to be read.
 */
function countChunks(request: IncomingMessage): () => number {
  const push = request.push.bind(request);
  let count = 0;
  request.push = (chunk: Buffer | null, ...rest) => {
    if (chunk !== null) count++;
    return push(chunk, ...rest);
  };
  return () => {
    const counted = count;
    count = 0;
    return counted;
  };
}
