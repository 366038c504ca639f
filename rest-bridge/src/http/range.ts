/** Byte ranges (RFC 9110 §14). No I/O. */
import { createHash } from 'node:crypto';

/** First and last byte, both counted in. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type Ranges =
  { readonly kind: 'whole' } | { readonly kind: 'unsatisfiable' } | { readonly kind: 'ranges'; readonly ranges: readonly ByteRange[] };

/** More ranges than this in one request are an attack, not a need (§14.2). */
const MAX_RANGES = 16;
const SPEC = /^(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;

/**
 * What `Range` asks for of `size` bytes. `whole` for what a server may ignore: another unit, a malformed list, too many ranges, or
 * ranges that together are more than the whole. `unsatisfiable` when none lies within.
 */
export function readRanges(header: string, size: number): Ranges {
  const list = /^\s*bytes\s*=(.*)$/i.exec(header)?.[1];
  const specs = list?.split(',').map((spec) => SPEC.exec(spec.trim()));
  if (!specs || specs.length > MAX_RANGES || !specs.every((spec) => spec !== null)) return { kind: 'whole' };
  const wanted = specs.map(([, first, last, suffix]) =>
    suffix === undefined
      ? { start: Number(first), end: last ? Number(last) : Infinity }
      : { start: Math.max(0, size - Number(suffix)), end: Number(suffix) === 0 ? -1 : Infinity },
  );
  if (wanted.some(({ start, end }, i) => end < start && specs[i]?.[3] === undefined)) return { kind: 'whole' };
  const ranges = wanted.map(({ start, end }) => ({ start, end: Math.min(end, size - 1) })).filter(({ start, end }) => start <= end);
  if (ranges.length === 0) return { kind: 'unsatisfiable' };
  const total = ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  return ranges.length > 1 && total > size ? { kind: 'whole' } : { kind: 'ranges', ranges };
}

/** `bytes 0-99/1234`. */
export function toContentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${String(start)}-${String(end)}/${String(size)}`;
}

/** Several ranges as one body, each part with its own type and place (§14.6). */
export function toMultipart(bytes: Buffer, ranges: readonly ByteRange[], contentType: string): { contentType: string; body: Buffer } {
  // Of the bytes themselves, so that the same request has the same answer, and long enough never to stand in them.
  const boundary = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const parts = ranges.flatMap((range) => [
    Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${contentType}\r\nContent-Range: ${toContentRange(range, bytes.length)}\r\n\r\n`),
    bytes.subarray(range.start, range.end + 1),
  ]);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    body: Buffer.concat([...parts, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
