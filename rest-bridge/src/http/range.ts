/** Byte ranges (RFC 9110 §14). No I/O. */
import { createHash } from 'node:crypto';

/** The positions of the first and the last byte, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A parsed `Range` header. */
export type Ranges =
  { readonly kind: 'whole' } | { readonly kind: 'unsatisfiable' } | { readonly kind: 'ranges'; readonly ranges: readonly ByteRange[] };

/** A request with more ranges is answered with the whole representation, because many small ranges are an attack (§14.2). */
const MAX_RANGES = 16;
/** Positions beyond 2^53 lose their last digits, which are beyond every representation. */
const SPEC = /^(?:(\d{1,100})-(\d{0,100})|-(\d{1,100}))$/;

/**
 * Parses `Range` for a representation of `size` bytes. Returns `whole` when the header is ignored: another unit, a malformed list, more
 * than 16 ranges, or ranges that together are larger than the representation. Returns `unsatisfiable` when no range overlaps it.
 */
export function parseRanges(header: string, size: number): Ranges {
  const list = /^\s*bytes\s*=(.*)$/i.exec(header)?.[1];
  // A list may have empty elements (§5.6.1.2).
  const specs = list?.split(',').flatMap((spec) => (spec.trim() === '' ? [] : [SPEC.exec(spec.trim())]));
  if (!specs || specs.length === 0 || specs.length > MAX_RANGES || !specs.every((spec) => spec !== null)) return { kind: 'whole' };
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

/** Returns the value of `Content-Range`, such as `bytes 0-99/1234`. */
export function toContentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${String(start)}-${String(end)}/${String(size)}`;
}

/** Returns several ranges as one `multipart/byteranges` body; each part names its type and range (§14.6). */
export function toMultipart(bytes: Buffer, ranges: readonly ByteRange[], contentType: string): { contentType: string; body: Buffer } {
  // A hash of the content: equal requests get equal responses, and the content does not contain it.
  const boundary = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const parts = ranges.flatMap((range) => [
    Buffer.from(toPartStart(range, { boundary, size: bytes.length, contentType })),
    bytes.subarray(range.start, range.end + 1),
  ]);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    body: Buffer.concat([...parts, Buffer.from(toPartEnd(boundary))]),
  };
}

/** Returns what stands before a range in a `multipart/byteranges` body; `size` is that of the whole representation. */
export function toPartStart(
  range: ByteRange,
  { boundary, size, contentType }: { readonly boundary: string; readonly size: number; readonly contentType: string },
): string {
  return `\r\n--${boundary}\r\nContent-Type: ${contentType}\r\nContent-Range: ${toContentRange(range, size)}\r\n\r\n`;
}

/** Returns what stands behind the last range. */
export function toPartEnd(boundary: string): string {
  return `\r\n--${boundary}--\r\n`;
}
