import type { Errors } from './envelope.ts';

/** What an execution knows of the response to one fetch. All positions are offsets into its arena. */
export interface FetchState {
  /** The response; once it is walked, its data. */
  start: number;
  end: number;
  /** Those that the subgraph reported. */
  errors: Errors;
  /** Whether there are no data: all objects are missing. */
  isWithoutData: boolean;
  /** Whether any object is missing. */
  hasNulls: boolean;
  /** In words: one record for each part of each object, and one more. */
  readonly records: number;
  /** The number of objects at the top: of entities, or one. */
  readonly count: number;
  /** The parts of each object. */
  readonly parts: number;
  /** The tape in words. */
  readonly tape: number;
  tapeEnd: number;
  /** The actual cost of each part of each object, without that of the holes in it; undefined when it is not needed. */
  readonly costs: number[] | undefined;
}
