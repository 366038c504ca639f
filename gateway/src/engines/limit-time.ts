/** The time limit of an execution, besides those of its fetches. */
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { Limits } from '../limits/limits.ts';

/**
 * Starts the time of an execution. When it has passed, the fetches of queries fail, those in flight and those that would begin, and the result has
 * what has arrived. A mutation's own fetches are not aborted: their subgraphs execute them anyway. Returns undefined when there is no limit.
 */
export function limitTime(
  cancellation: Cancellation,
  { operationTimeoutMs }: Pick<Limits, 'operationTimeoutMs'>,
  guard: (act: () => void) => void,
): NodeJS.Timeout | undefined {
  if (operationTimeoutMs === 0) return undefined;
  const timer = setTimeout(() => {
    guard(() => {
      cancellation.expire();
    });
  }, operationTimeoutMs);
  // It may outlast a result in parts.
  return timer.unref();
}
