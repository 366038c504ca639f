/** A task of the background that begins again after each error, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@trestle/service/process/backoff';

const BACKOFF = { firstMs: 100, maxMs: 5000 };

/** What is repeated, and what is said of its errors. */
export interface RepeatedTask {
  /** Runs until the signal is aborted, or throws. Calls `onSuccess` after each step: the pause after the next error is short again. */
  readonly run: (signal: AbortSignal, onSuccess: () => void) => Promise<void>;
  /** Is called with each error, and with the number of errors since the last success. */
  readonly onError: (error: unknown, failures: number) => void;
}

/** Starts the task. Pauses for 100 ms after an error, and longer after each further one, up to 5 s. `stop` resolves when the task has ended. */
export function repeatUntilStopped(task: RepeatedTask): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const running = repeat(task, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function repeat({ run, onError }: RepeatedTask, signal: AbortSignal): Promise<void> {
  let failures = 0;
  const onSuccess = () => (failures = 0);
  while (!signal.aborted) {
    await run(signal, onSuccess).catch(async (error: unknown) => {
      if (signal.aborted) return;
      failures++;
      onError(error, failures);
      await delay(backoffMs(failures, BACKOFF), undefined, { signal }).catch(() => undefined);
    });
  }
}
