/** Parses the head of a response: status line and header fields (RFC 9112 §4, §5). No I/O. */
import { COLON, CR, IS_TOKEN, IS_VALUE, LF, SPACE, TAB, isDigit, spells } from './octets.ts';
import { invalid, tooLarge } from './response-errors.ts';

/** All heads of one response together: that of an interim response (1xx) counts too. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** The most header fields of one head. */
export const MAX_FIELDS = 128;

/** Positions that are kept for each field: start and end of its name, start and end of its value. */
const POSITIONS = 4;

/**
 * The head that is being read, or was read last. It takes bytes in any number of parts, continues where it stopped, and creates no object for
 * a field: it keeps the positions in the bytes and compares names there.
 */
export class ResponseHead {
  status = 0;
  /** Whether the response is HTTP/1.0. */
  isHttp10 = false;
  #bytes: Buffer = EMPTY;
  readonly #positions = new Int32Array(MAX_FIELDS * POSITIONS);
  #fields = 0;
  #lineStart = 0;
  #scanned = 0;

  /** Begins a head at this position. */
  begin(start: number): void {
    this.status = 0;
    this.#fields = 0;
    this.#lineStart = this.#scanned = start;
  }

  /**
   * Reads on up to `end`. The bytes before `end` must be those of the last call, in the same or another buffer.
   * Returns where the head ends, -1 while it is incomplete. Throws INVALID_RESPONSE and RESPONSE_TOO_LARGE.
   */
  read(bytes: Buffer, end: number): number {
    this.#bytes = bytes;
    let i = this.#scanned;
    for (; i < end; i++) {
      if (bytes[i] !== LF) continue;
      const start = this.#lineStart;
      const lineEnd = i - 1;
      if (lineEnd < start || bytes[lineEnd] !== CR) throw invalid('A line of the head does not end with CR LF.');
      if (this.status === 0) this.#readStatusLine(start, lineEnd);
      else if (lineEnd > start) this.#readField(start, lineEnd);
      else {
        if (i >= MAX_HEAD_BYTES) throw headTooLarge();
        return i + 1;
      }
      this.#lineStart = i + 1;
    }
    this.#scanned = i;
    if (i >= MAX_HEAD_BYTES) throw headTooLarge();
    return -1;
  }

  /** Returns the index of the first field of this name from index `from`, -1 when there is none. `name` is in lower case. */
  find(name: string, from = 0): number {
    const positions = this.#positions;
    for (let field = from; field < this.#fields; field++) {
      const start = positions[field * POSITIONS] as number;
      const end = positions[field * POSITIONS + 1] as number;
      if (end - start === name.length && spells(this.#bytes, start, name)) return field;
    }
    return -1;
  }

  /** Returns where the value of a field begins. */
  valueStart(field: number): number {
    return this.#positions[field * POSITIONS + 2] as number;
  }

  /** Returns where the value of a field ends. */
  valueEnd(field: number): number {
    return this.#positions[field * POSITIONS + 3] as number;
  }

  /** Returns the value of a field. */
  value(field: number): string {
    return this.#bytes.toString('latin1', this.valueStart(field), this.valueEnd(field));
  }

  /** Returns whether the value of a field is this text, in whichever case. `text` is in lower case. */
  hasValue(field: number, text: string): boolean {
    const start = this.valueStart(field);
    return this.valueEnd(field) - start === text.length && spells(this.#bytes, start, text);
  }

  /** Returns the octet at a position of the head. */
  octet(position: number): number {
    return this.#bytes[position] as number;
  }

  /** Lets go of the bytes. */
  release(): void {
    this.#bytes = EMPTY;
    this.#fields = 0;
  }

  /** RFC 9112 §4. The reason phrase may be absent, and with it its space. */
  #readStatusLine(start: number, end: number): void {
    const bytes = this.#bytes;
    const isHttp1 = end - start >= 12 && spells(bytes, start, 'http/1.') && bytes[start] === 0x48 && bytes[start + 8] === SPACE;
    const minor = bytes[start + 7];
    if (!isHttp1 || (minor !== 0x30 && minor !== 0x31)) throw invalid('The response is not HTTP/1.1.');
    let status = 0;
    for (let i = start + 9; i < start + 12; i++) {
      const octet = bytes[i] as number;
      if (!isDigit(octet)) throw invalid('The status code is not a number.');
      status = status * 10 + octet - 0x30;
    }
    if (status < 100 || status > 599) throw invalid(`The status code ${String(status)} is not between 100 and 599.`);
    if (end > start + 12 && bytes[start + 12] !== SPACE) throw invalid('The status code does not have three digits.');
    this.#requireValue(start + 12, end);
    this.isHttp10 = minor === 0x30;
    this.status = status;
  }

  /** RFC 9112 §5: no space before the colon, and no line folding. */
  #readField(start: number, end: number): void {
    const bytes = this.#bytes;
    if (this.#fields === MAX_FIELDS) throw tooLarge(`The response has more than ${MAX_FIELDS} header fields.`);
    let nameEnd = start;
    while (IS_TOKEN[bytes[nameEnd] as number] === 1) nameEnd++;
    if (nameEnd === start || bytes[nameEnd] !== COLON) throw invalid('A header field has no valid name.');
    let valueStart = nameEnd + 1;
    let valueEnd = end;
    while (valueStart < valueEnd && isBlank(bytes[valueStart])) valueStart++;
    while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd--;
    this.#requireValue(valueStart, valueEnd);
    const at = this.#fields++ * POSITIONS;
    this.#positions[at] = start;
    this.#positions[at + 1] = nameEnd;
    this.#positions[at + 2] = valueStart;
    this.#positions[at + 3] = valueEnd;
  }

  #requireValue(start: number, end: number): void {
    const bytes = this.#bytes;
    for (let i = start; i < end; i++) {
      if (IS_VALUE[bytes[i] as number] === 0) throw invalid('The head contains a control character.');
    }
  }
}

const EMPTY = Buffer.alloc(0);

function isBlank(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB;
}

function headTooLarge(): Error {
  return tooLarge(`The head of the response exceeds ${String(MAX_HEAD_BYTES)} bytes.`);
}
