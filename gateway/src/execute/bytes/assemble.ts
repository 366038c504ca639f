/** Assembles the data of a result from the tapes: copies pieces of responses, and fills holes with the fields of entities. */
import { type Hole, MISSING, RECORD_WORDS } from '../../program/bytes-program.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { Assembled } from '../executor.ts';
import { type Arena, SLACK_BYTES } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import type { FetchState } from './fetch-state.ts';
import type { Marks } from './marks.ts';

const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const COMMA = 0x2c;
/** Longer pieces are copied by the runtime: for short ones the call costs more than the copy. */
const LONG_PIECE = 160;
const DATA = Buffer.from('{"data":{');
/** The bytes after the last piece: the closing brace of the data, and a brace or a comma after it. */
const TAIL_BYTES = 16;
const MARGIN_BYTES = 1024;

/** Thrown when a fetch that the result needs was left out, or when fields are missing that another fetch may have. */
export class MissingFields extends Error {}

/** Thrown when the result does not fit into its buffer. */
class NoRoom extends Error {}
const NO_ROOM = new NoRoom();

export interface AssemblySource {
  readonly arena: Arena;
  readonly operation: BytesOperation;
  readonly states: readonly (FetchState | undefined)[];
  /** Whether the actual cost is wanted. */
  readonly needsCost: boolean;
  /** Gets the places that errors refer to; undefined where there are no errors and all objects are there. */
  readonly marks?: Marks | undefined;
}

/** What is assembled, without its errors. */
export type AssembledData = Pick<Assembled, 'assembled' | 'cost'>;

/** Returns the data of a result in a buffer of the pool, and its actual cost; undefined when the data exceed the pool's limit. */
export function assembleInto(buffers: BufferPool, source: AssemblySource): AssembledData | undefined {
  const { maxBytes } = buffers;
  let least = source.operation.resultBytes + MARGIN_BYTES;
  for (;;) {
    const bytes = buffers.take(least);
    const result = assemble(source, bytes);
    if (result && result.assembled.length < maxBytes) return result;
    if (buffers.isPooled(bytes)) buffers.give(bytes);
    if (result || bytes.length > maxBytes + MARGIN_BYTES) return undefined;
    least = bytes.length * 2;
  }
}

/** Writes `{"data":…` without its closing brace; returns undefined when it does not fit into the buffer. */
function assemble(source: AssemblySource, buffer: Buffer): AssembledData | undefined {
  try {
    const assembly = new Assembly(source, buffer);
    return { assembled: { bytes: buffer, length: assembly.write() }, cost: assembly.cost };
  } catch (error) {
    if (error !== NO_ROOM) throw error;
    for (const state of source.states) if (state) forgetPlaces(source.arena.words, state);
    source.marks?.clear();
    return undefined;
  }
}

/** Removes the places of objects in a buffer that was too small. */
function forgetPlaces(words: Int32Array, { records, tape }: FetchState): void {
  for (let record = records; record + RECORD_WORDS < tape; record += RECORD_WORDS) if (words[record + 1] !== MISSING) words[record + 1] = 0;
}

class Assembly {
  readonly #operation: BytesOperation;
  readonly #holes: readonly Hole[];
  readonly #states: readonly (FetchState | undefined)[];
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  readonly #view: DataView;
  readonly #buffer: Buffer;
  readonly #target: DataView;
  readonly #limit: number;
  readonly #constantsEnd: number;
  /** Where the next byte goes. */
  #at = 0;
  /** The actual cost of what has been written. */
  #cost: number;
  /** By fetch: the costs of the parts of its objects with the holes in them, for parts that are copied. Undefined when the actual cost is not needed. */
  readonly #wholeCosts: readonly number[][] | undefined;
  readonly #marks: Marks | undefined;
  /** The holes that are being filled, the outermost first. Only with marks. */
  readonly #filling: Hole[] = [];

  constructor(source: AssemblySource, buffer: Buffer) {
    const { arena, operation, states, needsCost, marks } = source;
    this.#operation = operation;
    this.#holes = operation.holes;
    this.#states = states;
    this.#bytes = arena.bytes;
    this.#words = arena.words;
    this.#view = arena.view;
    this.#buffer = buffer;
    this.#target = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    this.#limit = buffer.length - SLACK_BYTES - TAIL_BYTES;
    this.#constantsEnd = operation.constants.length;
    this.#cost = operation.program.baseCost;
    this.#wholeCosts = needsCost ? states.map(() => []) : undefined;
    this.#marks = marks;
  }

  /** The actual cost of the result; undefined when it is not needed. */
  get cost(): number | undefined {
    return this.#wholeCosts && this.#cost;
  }

  write(): number {
    this.#at = DATA.copy(this.#buffer);
    for (const hole of this.#operation.program.rootHoles) this.#fill(hole, 0);
    this.#buffer[this.#at++] = CLOSING_BRACE;
    return this.#at;
  }

  /** Writes the fields of an entity that belong into a hole. What stands in several places is copied from the first. */
  #fill(number: number, entity: number): void {
    const hole = this.#holes[number];
    const state = hole && this.#states[hole.fetch];
    if (hole?.part === undefined) throw new RangeError('A tape has an unknown hole.');
    if (entity === MISSING) {
      this.#leaveOut(hole);
      return;
    }
    if (!state) {
      if (!hole.isOptional) throw new MissingFields();
      return;
    }
    if (entity < 0 || entity >= state.count) throw new RangeError('A hole has an unknown entity.');
    const words = this.#words;
    const part = entity * state.parts + hole.part;
    const record = state.records + part * RECORD_WORDS;
    const before = this.#at;
    const from = words[record + 1] as number;
    const marks = this.#marks;
    if (marks) marks.noteEntity(hole.fetch, entity, this.#place());
    if (from === MISSING) {
      this.#leaveOut(hole);
      return;
    }
    this.#separate();
    const start = this.#at;
    const costs = this.#wholeCosts?.[hole.fetch];
    // With marks each place is written for itself, because errors refer to it.
    if (from !== 0 && !marks) {
      this.#copyWritten(from, words[record + 2] as number);
      if (costs) this.#cost += costs[part] as number;
    } else {
      const costBefore = this.#cost;
      if (costs) this.#cost += state.costs?.[part] ?? 0;
      if (marks) this.#filling.push(hole);
      this.#play(state, words[record] as number, words[record + RECORD_WORDS] as number);
      if (marks) this.#filling.pop();
      words[record + 1] = start;
      words[record + 2] = this.#at;
      if (costs) costs[part] = this.#cost - costBefore;
    }
    if (this.#at === start) this.#at = before;
  }

  /** Writes the fields of a hole whose entity is missing, and marks them. */
  #leaveOut({ absent, below, isNullable }: Hole): void {
    const marks = this.#marks;
    if (!marks || !absent) throw new MissingFields();
    let up = below;
    for (let i = this.#filling.length - 1; !isNullable && i >= 0; i--) {
      const outer = this.#filling[i] as Hole;
      up += outer.below;
      if (outer.isNullable) break;
    }
    for (const field of absent) {
      if (!marks.isSelected(field.when)) continue;
      this.#separate();
      if (this.#at + field.text.length > this.#limit) throw NO_ROOM;
      this.#at += this.#buffer.write(field.text, this.#at, 'latin1');
      marks.noteAbsent(field, this.#at, up);
    }
  }

  /** Writes what a part of a tape says. */
  #play(state: FetchState, from: number, to: number): void {
    const words = this.#words;
    const holes = this.#holes;
    if (from < state.tape || to > state.tapeEnd) throw new RangeError('A part is outside its tape.');
    for (let t = from; t < to;) {
      const word = words[t] as number;
      if (word >= 0) {
        if ((word & 1) === 1) this.#separate();
        this.#piece(state, word >> 1, words[t + 1] as number);
        t += 2;
        continue;
      }
      const hole = holes[~word] as Hole;
      if (hole.part !== undefined) this.#fill(~word, this.#states[hole.fetch] ? this.#entityAt(t) : this.#entityNotSent(hole, t));
      else if (this.#marks && this.#states[hole.fetch]) this.#marks.noteEntity(hole.fetch, this.#entityAt(t), this.#place());
      t += hole.words;
    }
  }

  /** Returns MISSING when a fetch was not sent because the entity with the key that it needs is missing, and 0 when it was left out. */
  #entityNotSent({ offset }: Hole, at: number): number {
    if (!this.#marks || offset === undefined) return 0;
    const key = this.#words[at + 1] as number;
    const provider = this.#holes[~(this.#words[key] as number)];
    const state = provider && this.#states[provider.fetch];
    if (!state) return 0;
    const record = state.records + this.#entityAt(key) * state.parts * RECORD_WORDS;
    return this.#words[record + 1] === MISSING ? MISSING : 0;
  }

  /** Returns the index of the entity of the hole at a place in a tape; MISSING when the entity with its key is missing. */
  #entityAt(at: number): number {
    const words = this.#words;
    const hole = this.#holes[~(words[at] as number)];
    if (!hole) throw new RangeError('A tape has an unknown hole.');
    const next = words[at + 1] as number;
    if (hole.hasKey) return next;
    if (hole.offset === undefined) return this.#entityAt(next);
    const provider = this.#holes[~(words[next] as number)];
    const state = provider && this.#states[provider.fetch];
    if (!state) throw new MissingFields();
    const record = state.records + this.#entityAt(next) * state.parts * RECORD_WORDS;
    return words[record + 1] === MISSING ? MISSING : this.#entityAt((words[record] as number) + hole.offset);
  }

  /** Copies a piece, which must lie in the response of its fetch or in the constants. Copies up to seven bytes more, which are overwritten. */
  #piece({ start, end }: FetchState, from: number, to: number): void {
    if (to < from || ((from < start || to > end) && to > this.#constantsEnd)) throw new RangeError('A piece is outside its response.');
    const count = to - from;
    const at = this.#at;
    if (at + count > this.#limit) throw NO_ROOM;
    if (count > LONG_PIECE) this.#bytes.copy(this.#buffer, at, from, to);
    else {
      const source = this.#view;
      const target = this.#target;
      for (let i = 0; i < count; i += 8) {
        target.setInt32(at + i, source.getInt32(from + i, true), true);
        target.setInt32(at + i + 4, source.getInt32(from + i + 4, true), true);
      }
    }
    this.#at = at + count;
  }

  /** Copies fields that were written at another place of the result. */
  #copyWritten(from: number, to: number): void {
    const count = to - from;
    if (this.#at + count > this.#limit) throw NO_ROOM;
    if (count > LONG_PIECE) this.#buffer.copyWithin(this.#at, from, to);
    else {
      const target = this.#target;
      const at = this.#at;
      for (let i = 0; i < count; i += 8) {
        target.setInt32(at + i, target.getInt32(from + i, true), true);
        target.setInt32(at + i + 4, target.getInt32(from + i + 4, true), true);
      }
    }
    this.#at += count;
  }

  /** Returns an offset in the object that is being written. A comma at its end may be removed again. */
  #place(): number {
    return this.#buffer[this.#at - 1] === COMMA ? this.#at - 1 : this.#at;
  }

  /** Separates a field from one before it in the same object. */
  #separate(): void {
    const last = this.#buffer[this.#at - 1];
    if (last !== OPENING_BRACE && last !== COMMA) this.#buffer[this.#at++] = COMMA;
  }
}
