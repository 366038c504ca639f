/** Copies a response into the arena of an execution and walks it. */
import { isUtf8 } from 'node:buffer';
import { RECORD_WORDS, type WalkJob } from '../../program/bytes-program.ts';
import { type Arena, align } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import { compact } from './compact.ts';
import type { FetchState } from './fetch-state.ts';

/** A response's body, which is lent. */
export interface ResponseBody {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export interface WalkContext {
  readonly arena: Arena;
  readonly operation: BytesOperation;
  /** The bits of the conditions that are true. */
  readonly conditions: number;
}

export interface WalkedFetch {
  readonly index: number;
  /** The number of objects at the top of its response. */
  readonly count: number;
  readonly body: ResponseBody;
}

const WORD_BYTES = 4;
const LAST_SPACE = 0x20;
/** About the words of a tape for each byte of a response. The arena grows when a tape needs more. */
const TAPE_WORDS_PER_BYTE = 0.125;
const MIN_TAPE_WORDS = 256;

/** The job of the walk that runs: walks do not wait. */
const job: WalkJob = {
  bytes: new Uint8Array(),
  words: new Int32Array(),
  view: new DataView(new ArrayBuffer(0)),
  ...{ start: 0, end: 0, records: 0, count: 0, tape: 0, limit: 0, conditions: 0 },
};

/** Returns what the walker found; undefined for a response that differs from its request. Throws OutOfMemory. */
export function walkResponse(context: WalkContext, { index, count, body }: WalkedFetch): FetchState | undefined {
  const { arena, operation } = context;
  const bodyEnd = withoutSpace(body);
  if (!isUtf8(body.bytes.subarray(body.start, bodyEnd))) return undefined;
  const size = bodyEnd - body.start;
  const { parts } = operation.program.fetches[index] as { parts: number };
  const recordWords = count * parts * RECORD_WORDS + 1;
  const tapeWords = MIN_TAPE_WORDS + Math.ceil(size * TAPE_WORDS_PER_BYTE);
  arena.reserve(size + (recordWords + tapeWords + 2) * WORD_BYTES);
  const start = arena.copyIn(body.bytes, body.start, bodyEnd);
  const records = arena.top / WORD_BYTES;
  const place = { start, end: start + size, records, count, parts, tape: records + recordWords };
  const state = walkWithoutSpace(context, index, place);
  if (state) arena.top = align(state.tapeEnd * WORD_BYTES);
  return state;
}

/** Walks the response. White space, which some subgraphs always send, is removed: at once where the last response had some. */
function walkWithoutSpace(context: WalkContext, index: number, place: Omit<FetchState, 'tapeEnd'>): FetchState | undefined {
  const { arena, operation } = context;
  const { start, end } = place;
  if (!operation.spaced.has(index)) {
    const tapeEnd = walkUntilItFits(context, index, place);
    if (tapeEnd > 0) return { ...place, tapeEnd };
  }
  const compacted = { ...place, end: compact(arena.bytes, start, end) };
  if (compacted.end < end) operation.spaced.add(index);
  else operation.spaced.delete(index);
  const tapeEnd = compacted.end > 0 ? walkUntilItFits(context, index, compacted) : 0;
  return tapeEnd > 0 ? { ...compacted, tapeEnd } : undefined;
}

/** Many servers end a response with a line feed. */
function withoutSpace({ bytes, start, end }: ResponseBody): number {
  let last = end;
  while (last > start && (bytes[last - 1] as number) <= LAST_SPACE) last--;
  return last;
}

/** Returns the end of the tape; 0 for a response that differs from the request. */
function walkUntilItFits({ arena, operation, conditions }: WalkContext, index: number, place: Omit<FetchState, 'tapeEnd'>): number {
  const walk = operation.walks[index];
  if (!walk) return 0;
  for (;;) {
    job.bytes = arena.bytes;
    job.words = arena.words;
    job.view = arena.view;
    job.start = place.start;
    job.end = place.end;
    job.records = place.records;
    job.count = place.count;
    job.tape = place.tape;
    job.limit = arena.wordLimit;
    job.conditions = conditions;
    const tapeEnd = walk(job);
    if (tapeEnd >= 0) return tapeEnd;
    arena.growMore();
  }
}
