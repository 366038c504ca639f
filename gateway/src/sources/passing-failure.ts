/** Which failures to load a supergraph may pass without another supergraph, and how often it is tried. No I/O. */
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';

/** A supergraph that fails so often in a row is refused: it may be what exhausts the memory. */
export const MAX_LOADS = 10;

/** Returns whether the same supergraph may be loaded later. */
export function isPassing(error: unknown): boolean {
  return error instanceof PlannerUnavailable;
}
