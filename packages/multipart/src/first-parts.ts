/** Finds the first parts of a multipart request in bytes that arrive in pieces. No I/O. */
import { isUtf8 } from 'node:buffer';
import { HEADERS_END, MAX_HEADER_BYTES, malformed, nameOf } from './part-headers.ts';

const FIRST_BYTES = 4096;

/** The first parts of one request. The time to find them is linear in their size, however small the pieces are in which they arrive. */
export class FirstParts {
  /** Of the parts that are complete. */
  readonly contents: string[] = [];
  readonly #delimiter: string;
  readonly #names: readonly string[];
  #memory = Buffer.alloc(FIRST_BYTES);
  #size = 0;
  /** Where the headers of the next part begin, right behind its delimiter; 0 before the first delimiter. */
  #headers = 0;
  /** Where its content begins; 0 while its headers are not complete. */
  #content = 0;
  /** What is looked for next does not begin before. */
  #searched = 0;

  /** `names` are those that the parts must have, in this order. */
  constructor(boundary: string, names: readonly string[]) {
    this.#delimiter = `--${boundary}`;
    this.#names = names;
  }

  /** The number of bytes so far. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds the next bytes. Once all parts are complete, returns those behind the delimiter that follows the last part; undefined before, and when there
   * are none. Throws VALIDATION_ERROR for bytes that cannot begin such a form.
   */
  add(chunk: Buffer): Buffer | undefined {
    this.#append(chunk);
    if (this.#headers === 0 && !this.#findBeginning()) return undefined;
    for (const name of this.#names.slice(this.contents.length)) if (!this.#findPart(name)) return undefined;
    const rest = this.#size - this.#headers;
    return rest > 0 ? chunk.subarray(chunk.length - rest) : undefined;
  }

  #append(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#memory.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#size);
      this.#memory = larger;
    }
    chunk.copy(this.#memory, this.#size);
    this.#size = size;
  }

  /** A line break may stand before the first delimiter. */
  #findBeginning(): boolean {
    const start = this.#memory.toString('latin1', 0, Math.min(this.#size, this.#delimiter.length + 2));
    const expected = start.startsWith('\r') ? `\r\n${this.#delimiter}` : this.#delimiter;
    if (!expected.startsWith(start.slice(0, expected.length))) throw malformed('must begin with its boundary');
    if (start.length < expected.length) return false;
    this.#headers = this.#searched = expected.length;
    return true;
  }

  #findPart(name: string): boolean {
    if (this.#content === 0 && !this.#findHeaders(name)) return false;
    const end = this.#find(`\r\n${this.#delimiter}`);
    if (end < 0) return false;
    const content = this.#memory.subarray(this.#content, Math.max(this.#content, end));
    if (!isUtf8(content)) throw malformed(`has a part \`${name}\` that is not valid UTF-8`);
    this.contents.push(content.toString());
    this.#headers = this.#searched = end + 2 + this.#delimiter.length;
    this.#content = 0;
    return true;
  }

  #findHeaders(name: string): boolean {
    const end = this.#find(HEADERS_END);
    if ((end < 0 ? this.#size : end) - this.#headers > MAX_HEADER_BYTES) throw malformed('has a part whose headers are too long');
    if (end < 0) return false;
    if (nameOf(this.#memory.toString('latin1', this.#headers, end)) !== name)
      throw malformed(`must have the part \`${name}\` before its files`);
    this.#content = end + HEADERS_END.length;
    // The content may be empty: then the line break before the delimiter is the last one of the headers.
    this.#searched = end + 2;
    return true;
  }

  /** Returns where the bytes of `text` begin; -1 when they have not arrived. Then only later bytes are searched the next time. */
  #find(text: string): number {
    const at = this.#memory.subarray(0, this.#size).indexOf(text, this.#searched, 'latin1');
    if (at < 0) this.#searched = Math.max(this.#searched, this.#size - text.length + 1);
    return at;
  }
}
