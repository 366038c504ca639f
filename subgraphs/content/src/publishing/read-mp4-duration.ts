/** Reads the duration of an MP4 or QuickTime file from its header (ISO 14496-12 §8.2.2), wherever in the file it is, without the frames. */
import type { FileStore } from '@trestle/files/file-store';
import { Log, MP4BoxBuffer, createFile } from 'mp4box';

/** The file to read. */
export interface MediaFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
}

const PART_BYTES = 256 * 1024;
/** A file has a few boxes at its top level; one with thousands was made to be read for long. */
const MAX_READS = 500;

// The library writes what it does not understand to the console; `onError` reports it as well.
Object.assign(Log, { error: () => undefined, warn: () => undefined });

/** Resolves with the duration in seconds; undefined for a file without one. Rejects with the errors of the store. */
export async function readMp4Duration(
  files: Pick<FileStore, 'open'>,
  { key, size }: MediaFile,
  signal: AbortSignal,
): Promise<number | undefined> {
  const file = createFile();
  const found: { seconds?: number; isBroken?: boolean } = {};
  file.onReady = ({ duration, timescale }) => {
    found.seconds = duration / timescale;
  };
  file.onError = () => {
    found.isBroken = true;
  };
  let position = 0;
  for (let reads = 0; reads < MAX_READS && position < size && found.seconds === undefined && !found.isBroken; reads++) {
    signal.throwIfAborted();
    const part = await files.open(key, { start: position, end: Math.min(position + PART_BYTES, size) - 1 });
    if (!part) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of part as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    const next = file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(bytes.buffer, position));
    // It stays where it is after content that it does not understand.
    if (!(next > position)) return found.seconds;
    position = next;
  }
  return found.seconds;
}
