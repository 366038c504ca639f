/** Reads an assembled result from its start, to find the paths of places in it, and to put null in the place of lists and objects. No I/O. */
import type { ErrorPath } from '../../program/result.ts';
import { scanString } from './scanners.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const NULL = Buffer.from('null');

/** A list or an object that is being read. */
interface Level {
  readonly start: number;
  readonly isList: boolean;
  /** The index of an element of a list; where the key of a member starts. */
  position: number;
}

/** A list or an object that becomes null. */
interface Cut {
  readonly start: number;
  end: number;
}

export class ResultScan {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;
  /** From the whole result down. The second one is that of the data, whose path is empty. */
  readonly #levels: Level[] = [];
  readonly #cuts: Cut[] = [];
  /** The level of the last cut, while it is being read. */
  #open: number | undefined;

  /** `end` is that of the data: the text has no member behind them. */
  constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Whether the place is in something that becomes null. */
  get isCut(): boolean {
    return this.#open !== undefined;
  }

  /** Reads up to an offset, at which a token starts. */
  moveTo(end: number): void {
    const bytes = this.#bytes;
    let p = this.#at;
    while (p < end) {
      const byte = bytes[p] as number;
      if (byte === QUOTE) {
        const after = scanString(bytes, p + 1);
        if (after === 0) throw new RangeError('A result has an invalid string.');
        if (bytes[after] === COLON) (this.#levels.at(-1) as Level).position = p;
        p = after;
        continue;
      }
      if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#levels.push({ start: p, isList: byte === OPENING_BRACKET, position: 0 });
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) this.#close(p + 1);
      else if (byte === COMMA) {
        const level = this.#levels.at(-1) as Level;
        if (level.isList) level.position++;
      }
      p++;
    }
    this.#at = p;
  }

  /** Returns the path of the object here. */
  path(): ErrorPath {
    return this.#levels.slice(1, -1).map(({ isList, position }) => (isList ? position : this.#keyAt(position)));
  }

  /** Makes null of the list or object that is so far above the object here; 0 is the object itself. */
  cut(up: number): void {
    const level = this.#levels.length - 1 - up;
    const { start } = this.#levels[level] as Level;
    while ((this.#cuts.at(-1)?.start ?? -1) >= start) this.#cuts.pop();
    this.#cuts.push({ start, end: this.#end });
    this.#open = level;
  }

  /** Writes null in place of what was cut. Returns the new end of the data. */
  finish(): number {
    if (this.isCut) this.moveTo(this.#end);
    const bytes = this.#bytes;
    let to = this.#cuts[0]?.start ?? this.#end;
    for (const [i, { end }] of this.#cuts.entries()) {
      to += NULL.copy(bytes, to);
      const next = this.#cuts[i + 1]?.start ?? this.#end;
      bytes.copyWithin(to, end, next);
      to += next - end;
    }
    return to;
  }

  #close(end: number): void {
    this.#levels.pop();
    if (this.#open !== this.#levels.length) return;
    (this.#cuts.at(-1) as Cut).end = end;
    this.#open = undefined;
  }

  #keyAt(start: number): string {
    const end = scanString(this.#bytes, start + 1);
    return JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
  }
}
