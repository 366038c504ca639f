/**
 * Writes the representations of entities from the bytes of their keys, each once, and numbers the holes of the tapes (Federation subgraph
 * specification, `_entities`).
 */
import { randomInt } from 'node:crypto';
import { type Hole, HOLE_WORDS } from '../../program/bytes-program.ts';
import { type Arena, SLACK_BYTES } from './arena.ts';
import type { BytesOperation, RepresentationBytes } from './bytes-operation.ts';
import type { FetchState } from './fetch-state.ts';

/** Thrown when keys are chosen so that a table of them degenerates. */
export class TooManyCollisions extends Error {}

/** Keys that are chosen to collide are left to the object executor. */
const MAX_PROBES = 64;
const MULTIPLIER = 0x9e3779b1;
const SEED = randomInt(0x7fffffff);
const COMMA = 0x2c;
const MIN_TABLE_WORDS = 64;

/** Positions of the first holes of entities, by the hash of their keys. It is used by one call at a time. */
let table = new Int32Array(MIN_TABLE_WORDS);

export interface RepresentationRequest {
  readonly arena: Arena;
  readonly operation: BytesOperation;
  readonly states: readonly (FetchState | undefined)[];
}

/**
 * Writes the representations of a fetch at the top of the arena, separated by commas, and leaves `top` behind them. Returns how many there are.
 * Throws OutOfMemory, TooManyCollisions.
 */
export function writeRepresentations(request: RepresentationRequest, fetch: number): number {
  const { operation, states } = request;
  const owners = operation.program.fetches[fetch]?.owners ?? [];
  let words = 0;
  for (const owner of owners) words += wordsOf(states[owner]);
  const mask = clearTable(words);
  let count = 0;
  for (const owner of owners) {
    const state = states[owner];
    if (state) count = writeOwner(request, { fetch, state, mask, count });
  }
  return count;
}

interface OwnerWriting {
  readonly fetch: number;
  readonly state: FetchState;
  readonly mask: number;
  /** How many representations there are so far. */
  readonly count: number;
}

function writeOwner(request: RepresentationRequest, { fetch, state, mask, count: before }: OwnerWriting): number {
  const { arena, operation } = request;
  const { holes } = operation;
  const templates = operation.representations[fetch] as readonly RepresentationBytes[];
  let { words } = arena;
  let count = before;
  for (let t = state.tape; t < state.tapeEnd;) {
    const word = words[t] as number;
    if (word >= 0) {
      t += 2;
      continue;
    }
    const hole = holes[~word];
    if (!hole) throw new RangeError('A tape has an unknown hole.');
    if (hole.fetch === fetch && hole.hasKey) {
      const slot = findSlot(arena, { hole: t, kind: hole, holes, mask });
      const known = table[slot] as number;
      if (known !== 0) words[t + 1] = words[known + 1] as number;
      else {
        table[slot] = t;
        words[t + 1] = count;
        writeOne(arena, { template: templates[hole.representation] as RepresentationBytes, hole: t, state, isFirst: count === 0 });
        ({ words } = arena);
        count++;
      }
    }
    t += hole.words;
  }
  return count;
}

interface Writing {
  readonly template: RepresentationBytes;
  /** Its place in the tape. */
  readonly hole: number;
  /** The response with the values of its key. */
  readonly state: FetchState;
  readonly isFirst: boolean;
}

interface Search {
  /** The place of the hole in the tape. */
  readonly hole: number;
  readonly kind: Hole;
  readonly holes: readonly Hole[];
  readonly mask: number;
}

/** Returns the slot of the hole with the same representation, or the free slot for it. */
function findSlot({ bytes, words }: Arena, { hole, kind, holes, mask }: Search): number {
  const { words: length, representation } = kind;
  let hash = SEED ^ representation;
  for (let at = hole + HOLE_WORDS; at < hole + length; at += 2) {
    const end = words[at + 1] as number;
    for (let i = words[at] as number; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), MULTIPLIER);
    hash ^= hash >>> 15;
  }
  for (let probe = 0; probe < MAX_PROBES; probe++) {
    const slot = (hash + probe) & mask;
    const other = table[slot] as number;
    if (other === 0) return slot;
    // The same entity may be found at several places.
    const isSameType = holes[~(words[other] as number)]?.representation === representation;
    if (isSameType && isSameKey(bytes, words, { hole, other, length })) return slot;
  }
  throw new TooManyCollisions();
}

function isSameKey(bytes: Buffer, words: Int32Array, { hole, other, length }: { hole: number; other: number; length: number }): boolean {
  for (let word = HOLE_WORDS; word < length; word += 2) {
    let i = words[hole + word] as number;
    let j = words[other + word] as number;
    const end = words[hole + word + 1] as number;
    if (end - i !== (words[other + word + 1] as number) - j) return false;
    for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return false;
  }
  return true;
}

function writeOne(arena: Arena, { template, hole, state, isFirst }: Writing): void {
  const { texts } = template;
  const values = texts.length - 1;
  let size = template.length + SLACK_BYTES;
  for (let at = hole + HOLE_WORDS, end = at + 2 * values; at < end; at += 2) {
    const from = arena.words[at] as number;
    const to = arena.words[at + 1] as number;
    if (from < state.start || to > state.end || to < from) throw new RangeError('A key is outside its response.');
    size += to - from;
  }
  arena.reserve(size);
  const { bytes, words } = arena;
  let { top } = arena;
  if (!isFirst) bytes[top++] = COMMA;
  for (let i = 0; i <= values; i++) {
    const text = texts[i] as Buffer;
    for (let k = 0; k < text.length; k++) bytes[top + k] = text[k] as number;
    top += text.length;
    if (i === values) break;
    const at = hole + HOLE_WORDS + 2 * i;
    const end = words[at + 1] as number;
    for (let from = words[at] as number; from < end; from++) bytes[top++] = bytes[from] as number;
  }
  arena.top = top;
}

function wordsOf(state: FetchState | undefined): number {
  return state ? state.tapeEnd - state.tape : 0;
}

/** Clears the table for the holes of so many words. At least half of it stays free. Returns the mask of its slots. */
function clearTable(words: number): number {
  let size = MIN_TABLE_WORDS;
  // A hole with a key has at least four words.
  while (size < words / 2) size *= 2;
  if (size > table.length) table = new Int32Array(size);
  else table.fill(0, 0, size);
  return size - 1;
}
