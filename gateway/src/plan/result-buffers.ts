/** Finds what a message of a planner thread hands over rather than copies. */
import type { PlannerReply } from './planner-worker.ts';

/** Returns the buffers of introspection results. */
export function buffersOf(message: PlannerReply): ArrayBuffer[] {
  const results =
    message.kind === 'introspected'
      ? message.results
      : message.kind === 'prepared' && 'program' in message.prepared
        ? message.prepared.program.introspection?.fixed
        : undefined;
  return Object.values(results ?? {}).map(({ buffer }) => buffer as ArrayBuffer);
}
