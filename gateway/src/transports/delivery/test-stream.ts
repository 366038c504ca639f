/** Reads in a test what was written to a stream. */
import type { Readable } from 'node:stream';

/** Returns all that can be read now. One call of `read` returns one piece in Node.js 26. */
export function readAll(stream: Readable): string {
  let text = '';
  for (let piece = stream.read() as Buffer | null; piece; piece = stream.read() as Buffer | null) text += piece.toString();
  return text;
}
