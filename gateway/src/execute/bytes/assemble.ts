/** Assembles the data of a result from the tapes: copies pieces of responses, and fills holes with the fields of entities. */
import { type Hole, RECORD_WORDS } from '../../program/bytes-program.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { Assembled } from '../executor.ts';
import { type Arena, SLACK_BYTES } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import type { FetchState } from './fetch-state.ts';

const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const COMMA = 0x2c;
/** Longer pieces are copied by the runtime: for short ones the call costs more than the copy. */
const LONG_PIECE = 160;
const DATA = Buffer.from('{"data":{');
/** What stands behind the last piece: a brace of the data, and a brace or a comma behind it. */
const TAIL_BYTES = 16;
const MARGIN_BYTES = 1024;

/** Thrown when a fetch that the result needs was left out. */
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
}

/** Returns the data of a result in a buffer of the pool, and its actual cost; undefined when the data exceed the pool's limit. */
export function assembleInto(buffers: BufferPool, source: AssemblySource): Assembled | undefined {
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
function assemble(source: AssemblySource, buffer: Buffer): Assembled | undefined {
  try {
    const assembly = new Assembly(source, buffer);
    return { assembled: { bytes: buffer, length: assembly.write() }, cost: assembly.cost };
  } catch (error) {
    if (error !== NO_ROOM) throw error;
    for (const state of source.states) if (state) forgetPlaces(source.arena.words, state);
    return undefined;
  }
}

/** Removes the places of objects in a buffer that was too small. */
function forgetPlaces(words: Int32Array, { records, tape }: FetchState): void {
  for (let record = records; record + RECORD_WORDS < tape; record += RECORD_WORDS) words[record + 1] = 0;
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
  /** By fetch: the costs of the parts of its objects with the holes in them, for parts that are copied. Undefined when nobody wants them. */
  readonly #wholeCosts: readonly number[][] | undefined;

  constructor(source: AssemblySource, buffer: Buffer) {
    const { arena, operation, states, needsCost } = source;
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
  }

  /** The actual cost of the result; undefined when nobody wants it. */
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
    if (!state) {
      if (!hole.isOptional) throw new MissingFields();
      return;
    }
    if (entity < 0 || entity >= state.count) throw new RangeError('A hole has an unknown entity.');
    const words = this.#words;
    const part = entity * state.parts + hole.part;
    const record = state.records + part * RECORD_WORDS;
    const before = this.#at;
    this.#separate();
    const start = this.#at;
    const from = words[record + 1] as number;
    const costs = this.#wholeCosts?.[hole.fetch];
    if (from !== 0) {
      this.#again(from, words[record + 2] as number);
      if (costs) this.#cost += costs[part] as number;
    } else {
      const costBefore = this.#cost;
      if (costs) this.#cost += state.costs?.[part] ?? 0;
      this.#play(state, words[record] as number, words[record + RECORD_WORDS] as number);
      words[record + 1] = start;
      words[record + 2] = this.#at;
      if (costs) costs[part] = this.#cost - costBefore;
    }
    if (this.#at === start) this.#at = before;
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
      if (hole.part !== undefined) this.#fill(~word, this.#states[hole.fetch] ? this.#entityAt(t) : 0);
      t += hole.words;
    }
  }

  /** Returns the index of the entity of the hole at a place in a tape. */
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
    return this.#entityAt((words[record] as number) + hole.offset);
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

  #again(from: number, to: number): void {
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

  /** Separates a field from one before it in the same object. */
  #separate(): void {
    const last = this.#buffer[this.#at - 1];
    if (last !== OPENING_BRACE && last !== COMMA) this.#buffer[this.#at++] = COMMA;
  }
}
