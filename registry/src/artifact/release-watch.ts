/** Waits for new releases of environments, for long polls. What another process of the registry releases is found by reading at an interval. */
import type { Log } from '@trestle/log';
import type { Store } from '../store.ts';

const INTERVAL_MS = 500;
const MAX_WAITING = 10_000;

/** Waits for releases. */
export interface ReleaseWatch {
  /**
   * Resolves when the environment has another release than this one, after `timeoutMs`, when `signal` is aborted, at the stop, and at once when too
   * many wait. The caller reads what is current then.
   */
  wait(environment: string, release: number, options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
  /** Resolves the waits of an environment. */
  notify(environment: string): void;
  /** Resolves all waits, and every later one at once. */
  stop(): void;
}

interface Waiter {
  readonly environment: string;
  readonly release: number;
  readonly wake: () => void;
}

/** Creates the watch. It reads nothing while nobody waits. */
export function createReleaseWatch(store: Pick<Store, 'listCurrentNumbers'>, log: Pick<Log, 'warn'>): ReleaseWatch {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const wake = (isDue: (waiter: Waiter) => boolean) => {
    for (const waiter of [...waiters].filter(isDue)) waiter.wake();
  };
  const read = async () => {
    try {
      const rows = await store.listCurrentNumbers([...new Set([...waiters].map(({ environment }) => environment))]);
      const numbers = new Map(rows.map(({ environment, number }) => [environment, number]));
      wake(({ environment, release }) => (numbers.get(environment) ?? release) !== release);
    } catch (error) {
      log.warn('releases cannot be read', { error });
    }
    timer = undefined;
    schedule();
  };
  const schedule = () => {
    if (waiters.size > 0 && !isStopped) timer ??= setTimeout(() => void read(), INTERVAL_MS);
  };
  return {
    wait(environment, release, { timeoutMs, signal }) {
      if (isStopped || signal.aborted || timeoutMs <= 0 || waiters.size >= MAX_WAITING) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(limit);
          signal.removeEventListener('abort', end);
          waiters.delete(waiter);
          resolve();
        };
        const limit = setTimeout(end, timeoutMs);
        const waiter: Waiter = { environment, release, wake: end };
        signal.addEventListener('abort', end);
        waiters.add(waiter);
        schedule();
      });
    },
    notify(environment) {
      wake((waiter) => waiter.environment === environment);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      wake(() => true);
    },
  };
}
