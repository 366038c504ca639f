/** A signal for work that ends before the process does, in the place of AbortSignal.any, which keeps memory while its signals live (Node.js 20). */

/** A signal that aborts when another one does. Call `end` when the work has ended. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  /** Aborts this signal only. */
  readonly abort: (reason?: unknown) => void;
  /** Stops following the other signal, and ends the time limit. */
  readonly end: () => void;
}

/** Returns a signal that aborts with `parent`, and with a TimeoutError after `timeoutMs` if that is given, in milliseconds. */
export function followSignal(parent: AbortSignal, timeoutMs?: number): FollowingSignal {
  const controller = new AbortController();
  const abort = (reason?: unknown) => {
    controller.abort(reason);
  };
  const abortWithParent = () => {
    abort(parent.reason);
  };
  const expire = () => {
    abort(new DOMException(`The time limit of ${String(timeoutMs)} ms has passed`, 'TimeoutError'));
  };
  if (parent.aborted) abortWithParent();
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  parent.addEventListener('abort', abortWithParent);
  return {
    signal: controller.signal,
    abort,
    end() {
      clearTimeout(timer);
      parent.removeEventListener('abort', abortWithParent);
    },
  };
}
