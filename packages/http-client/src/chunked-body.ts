/** Decodes a chunked body in place: the data of all chunks is moved together (RFC 9112 §7.1). No I/O. */
import { CR, IS_VALUE, LF } from './octets.ts';
import { invalid, tooLarge } from './response-errors.ts';

/** Size and extensions of one chunk. */
const MAX_SIZE_LINE_BYTES = 256;
/** Eight hexadecimal digits are more than any limit of a body. */
const MAX_SIZE_DIGITS = 8;
const MAX_TRAILER_BYTES = 4096;

type State = 'size' | 'data' | 'data end' | 'trailers' | 'ended';

/** The body of one response in chunks, which it joins where they lie. */
export class ChunkedBody {
  /** Where the decoded data begins and ends. */
  start = 0;
  end = 0;
  /** Where the bytes begin that are not decoded yet. */
  position = 0;
  readonly #maxBytes: number;
  #state: State = 'size';
  /** What is missing of the data of the current chunk. */
  #missing = 0;
  #trailerBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Begins a body at this position. */
  begin(start: number): void {
    this.start = this.end = this.position = start;
    this.#state = 'size';
    this.#missing = this.#trailerBytes = 0;
  }

  /**
   * Decodes what has arrived up to `end`. Returns whether the body is complete; `position` is then where it ends.
   * Throws INVALID_RESPONSE and RESPONSE_TOO_LARGE.
   */
  read(bytes: Buffer, end: number): boolean {
    while (this.#state !== 'ended') {
      const hasAdvanced =
        this.#state === 'data'
          ? this.#readData(bytes, end)
          : this.#state === 'data end'
            ? this.#readDataEnd(bytes, end)
            : this.#state === 'size'
              ? this.#readSize(bytes, end)
              : this.#readTrailer(bytes, end);
      if (!hasAdvanced) return false;
    }
    return true;
  }

  /** Moves what is not decoded yet behind the decoded data, so that there is room for more. Returns where the bytes end then. */
  compact(bytes: Buffer, end: number): number {
    if (this.position === this.end) return end;
    bytes.copyWithin(this.end, this.position, end);
    const moved = this.position - this.end;
    this.position = this.end;
    return end - moved;
  }

  #readSize(bytes: Buffer, end: number): boolean {
    let i = this.position;
    let size = 0;
    for (; i < end; i++) {
      const digit = toHexDigit(bytes[i] as number);
      if (digit < 0) break;
      size = size * 16 + digit;
      if (i - this.position >= MAX_SIZE_DIGITS) throw tooLarge('The size of a chunk has more than 8 digits.');
    }
    const digits = i - this.position;
    if (i < end && (digits === 0 || (bytes[i] !== CR && bytes[i] !== SEMICOLON))) throw invalid('A chunk has no valid size.');
    const next = findLineEnd(bytes, i, { end, limit: this.position + MAX_SIZE_LINE_BYTES });
    if (next < 0) return false;
    if (this.end - this.start + size > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    this.position = next;
    this.#missing = size;
    this.#state = size === 0 ? 'trailers' : 'data';
    // The first data stays where it is.
    if (this.end === this.start) this.start = this.end = next;
    return true;
  }

  #readData(bytes: Buffer, end: number): boolean {
    const size = Math.min(this.#missing, end - this.position);
    if (size === 0) return false;
    if (this.end !== this.position) bytes.copyWithin(this.end, this.position, this.position + size);
    this.end += size;
    this.position += size;
    this.#missing -= size;
    if (this.#missing === 0) this.#state = 'data end';
    return true;
  }

  #readDataEnd(bytes: Buffer, end: number): boolean {
    const { position } = this;
    if (position < end && bytes[position] !== CR) throw invalid('A chunk is longer than its size.');
    if (end - position < 2) return false;
    if (bytes[position + 1] !== LF) throw invalid('A chunk does not end with CR LF.');
    this.position += 2;
    this.#state = 'size';
    return true;
  }

  /** Trailer fields are read and discarded. */
  #readTrailer(bytes: Buffer, end: number): boolean {
    const start = this.position;
    const next = findLineEnd(bytes, start, { end, limit: start + MAX_TRAILER_BYTES });
    if (next < 0) return false;
    this.#trailerBytes += next - start;
    if (this.#trailerBytes > MAX_TRAILER_BYTES) throw tooLarge('The trailer fields are too large.');
    this.position = next;
    if (next - start === 2) this.#state = 'ended';
    return true;
  }
}

const SEMICOLON = 0x3b;

/** Returns the position behind the CR LF that ends a line, -1 when it has not arrived. Throws for control characters and overlong lines. */
function findLineEnd(bytes: Buffer, start: number, { end, limit }: { end: number; limit: number }): number {
  for (let i = start; i < end; i++) {
    const octet = bytes[i] as number;
    if (octet === CR) {
      if (i + 1 === end) return -1;
      if (bytes[i + 1] !== LF) throw invalid('A line of the chunked body does not end with CR LF.');
      return i + 2;
    }
    if (IS_VALUE[octet] === 0) throw invalid('A line of the chunked body contains a control character.');
    if (i >= limit) throw tooLarge('A line of the chunked body is too long.');
  }
  return -1;
}

function toHexDigit(octet: number): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const lower = octet | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Returns the error of a body that exceeds the limit. */
export function bodyTooLarge(maxBytes: number): Error {
  return tooLarge(`The body of the response exceeds ${maxBytes} bytes.`);
}
