/** Plans the most used operations for a new supergraph before it is served, so that the first requests after a switch need not wait for planning. */
import type { Log } from '@trestle/log';
import type { Snapshot } from './snapshot.ts';

export interface WarmUpSettings {
  /** The most operations that are planned. */
  readonly maxOperations: number;
  /** The time limit in milliseconds. What is not planned then is planned when it is requested. */
  readonly maxMs: number;
}

/** The defaults of WARM_UP_OPERATIONS and WARM_UP_TIMEOUT_MS. */
export const WARM_UP: WarmUpSettings = { maxOperations: 200, maxMs: 30_000 };

/** Resolves when all are planned or the time is over, and logs how many were. Never rejects. */
export async function warmUp(
  next: Pick<Snapshot, 'hash' | 'prepare'>,
  last: Pick<Snapshot, 'mostUsed'>,
  { maxOperations, maxMs, log }: WarmUpSettings & { readonly log: Pick<Log, 'info'> },
): Promise<void> {
  const startedAt = performance.now();
  const documents = maxMs === 0 ? [] : last.mostUsed(maxOperations);
  let planned = 0;
  let isOver = false;
  const plan = async () => {
    for (const { request, access, labels } of documents) {
      if (isOver) return;
      // One that fails is planned again when it is requested.
      await next.prepare(request, { access, labels }).then(
        () => planned++,
        () => undefined,
      );
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  await Promise.race([plan(), limit]);
  clearTimeout(timer);
  isOver = true;
  const durationMs = Math.round(performance.now() - startedAt);
  log.info(`planned ${String(planned)} of the ${String(documents.length)} most used operations for a new supergraph`, {
    hash: next.hash,
    durationMs,
  });
}
