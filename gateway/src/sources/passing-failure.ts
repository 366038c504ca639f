/** Which failures to load a supergraph, or settings, may pass without a change of them, and how often it is tried. No I/O. */
import { backoffMs } from '@trestle/service/process/backoff';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';

/** A supergraph that fails so often in a row is refused: it may be what exhausts the memory. */
export const MAX_LOADS = 10;

/** Returns whether the same supergraph may be loaded later. */
export function isPassing(error: unknown): boolean {
  return error instanceof PlannerUnavailable;
}

/** The delays after which a file is loaded again that could not be loaded for a reason that may pass. */
const RETRIES = { firstMs: 1000, maxMs: 60_000 };

/** Returns after how many milliseconds a file is loaded again, by the failures in a row; undefined when it is refused. */
export function toRetryDelayMs(error: unknown, failures: number): number | undefined {
  return isPassing(error) && failures < MAX_LOADS ? backoffMs(failures, RETRIES) : undefined;
}
