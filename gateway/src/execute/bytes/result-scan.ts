/** Reads an assembled result from its start, to find the paths of places in it, and to put null in the place of lists and objects. No I/O. */
import type { ErrorPath } from '../../program/result.ts';
import { scanString } from './scanners.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
const NULL = Buffer.from('null');
/** 1 for the bytes at which something begins or ends. */
const IS_MARK = new Uint8Array(256);
for (const character of '{}[],"') IS_MARK[character.charCodeAt(0)] = 1;

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

const NO_LEVEL: Level = { start: 0, isList: false, position: 0 };

export class ResultScan {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;
  /** From the whole result down. The second one is that of the data, whose path is empty. */
  readonly #levels: Level[] = [];
  /** The last one. */
  #level: Level = NO_LEVEL;
  readonly #cuts: Cut[] = [];
  /** The level of the last cut, while it is being read. */
  #cutLevel: number | undefined;

  /** `end` is that of the data: the text has no member behind them. */
  constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Whether the place is in something that becomes null. */
  get isCut(): boolean {
    return this.#cutLevel !== undefined;
  }

  /** Reads up to an offset, at which a token starts. */
  moveTo(end: number): void {
    const bytes = this.#bytes;
    let p = this.#at;
    for (;;) {
      while (p < end && IS_MARK[bytes[p] as number] === 0) p++;
      if (p >= end) break;
      const byte = bytes[p] as number;
      if (byte === QUOTE) {
        const after = scanString(bytes, p + 1);
        if (after === 0) throw new RangeError('A result has an invalid string.');
        if (bytes[after] === COLON) this.#level.position = p;
        p = after;
        continue;
      }
      if (byte === COMMA) {
        if (this.#level.isList) this.#level.position++;
      } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#open(p, byte === OPENING_BRACKET);
      else this.#close(p + 1);
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
    this.#cutLevel = level;
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

  #open(start: number, isList: boolean): void {
    this.#level = { start, isList, position: 0 };
    this.#levels.push(this.#level);
  }

  #close(end: number): void {
    this.#levels.pop();
    this.#level = this.#levels.at(-1) ?? NO_LEVEL;
    if (this.#cutLevel !== this.#levels.length) return;
    (this.#cuts.at(-1) as Cut).end = end;
    this.#cutLevel = undefined;
  }

  #keyAt(start: number): string {
    const end = scanString(this.#bytes, start + 1);
    return JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
  }
}
