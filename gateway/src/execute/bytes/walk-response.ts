/** Copies a response into the arena of an execution and walks it. */
import { isUtf8 } from 'node:buffer';
import { MISSING, RECORD_WORDS, type WalkJob } from '../../program/bytes-program.ts';
import type { ResponseBody } from '../execute.ts';
import { type Arena, align } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import { compact } from './compact.ts';
import { type Errors, NULL_BYTES, isNullAt, readHead, readTail } from './envelope.ts';
import type { FetchState } from './fetch-state.ts';

export interface WalkContext {
  readonly arena: Arena;
  readonly operation: BytesOperation;
  /** The bits of the conditions that are true. */
  readonly conditions: number;
  /** What arguments cost; undefined when the actual cost is not needed. */
  readonly argumentCosts: readonly number[] | undefined;
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
  hasNulls: false,
  costs: null,
  argumentCosts: [],
};
const NO_COSTS: readonly number[] = [];
const NO_ERRORS: Errors = [];

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
  const state = {
    start,
    end: start + size,
    errors: NO_ERRORS,
    isWithoutData: false,
    hasNulls: false,
    records,
    count,
    parts,
    tape: records + recordWords,
    tapeEnd: 0,
    costs: context.argumentCosts && [],
  };
  if (!readWithoutSpace(context, index, state)) return undefined;
  arena.top = align(state.tapeEnd * WORD_BYTES);
  return state;
}

/**
 * Reads the response. White space, which some subgraphs always send, is removed: at once where the last response had some. Returns false for a
 * response that differs from the request.
 */
function readWithoutSpace(context: WalkContext, index: number, state: FetchState): boolean {
  const { arena, operation } = context;
  const { start, end } = state;
  if (!operation.spaced.has(index) && read(context, index, state)) return true;
  const compactedEnd = compact(arena.bytes, start, end);
  if (compactedEnd < end) operation.spaced.add(index);
  else operation.spaced.delete(index);
  if (compactedEnd === 0) return false;
  state.start = start;
  state.end = compactedEnd;
  return read(context, index, state);
}

/** Reads a response without white space: its errors, and its data by the walker. Returns false for one that differs from the request. */
function read(context: WalkContext, index: number, state: FetchState): boolean {
  const { arena } = context;
  const { end } = state;
  const head = readHead({ bytes: arena.bytes, start: state.start, end });
  if (!head) return false;
  const { dataAt } = head;
  if (dataAt === undefined || isNullAt(arena.bytes, dataAt)) {
    const errors = dataAt === undefined ? head.errors : readTail({ bytes: arena.bytes, start: dataAt + NULL_BYTES, end }, head.errors);
    // GraphQL §7.1: a result without data has errors.
    if (!errors || errors.length === 0) return false;
    state.errors = errors;
    leaveOut(arena, state);
    return true;
  }
  state.start = dataAt;
  state.tapeEnd = walkUntilItFits(context, index, state);
  if (state.tapeEnd === 0) return false;
  state.end = job.end;
  state.hasNulls = job.hasNulls;
  const errors = readTail({ bytes: arena.bytes, start: job.end, end }, head.errors);
  if (errors) state.errors = errors;
  return errors !== undefined;
}

/** Notes that all objects are missing. */
function leaveOut({ words }: Arena, state: FetchState): void {
  state.isWithoutData = true;
  state.hasNulls = true;
  state.tapeEnd = state.tape;
  for (let record = state.records; record + RECORD_WORDS < state.tape; record += RECORD_WORDS) {
    words[record] = state.tape;
    words[record + 1] = MISSING;
  }
}

/** Many servers end a response with a line feed. */
function withoutSpace({ bytes, start, end }: ResponseBody): number {
  let last = end;
  while (last > start && (bytes[last - 1] as number) <= LAST_SPACE) last--;
  return last;
}

/** Returns the end of the tape, and leaves in the job what the walker found; 0 for data that differ from the request. */
function walkUntilItFits(
  { arena, operation, conditions, argumentCosts = NO_COSTS }: WalkContext,
  index: number,
  place: Readonly<FetchState>,
): number {
  const walk = operation.walks[index];
  if (!walk) return 0;
  for (;;) {
    job.bytes = arena.bytes;
    job.words = arena.words;
    job.view = arena.view;
    job.start = place.start;
    job.records = place.records;
    job.count = place.count;
    job.tape = place.tape;
    job.limit = arena.wordLimit;
    job.conditions = conditions;
    job.hasNulls = false;
    job.costs = place.costs ?? null;
    job.argumentCosts = argumentCosts;
    const tapeEnd = walk(job);
    if (tapeEnd >= 0) return tapeEnd;
    arena.growMore();
  }
}
