/** Reports to the source that a canary was ended here, so that all gateways end it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { backoffMs } from '@trestle/service/process/backoff';
import type { CanaryReturn } from '../launches/delivered.ts';
import type { SupergraphSource } from './source.ts';

const MAX_ATTEMPTS = 10;
const RETRIES = { firstMs: 1000, maxMs: 60_000 };

export interface ReportOptions {
  readonly source: Pick<SupergraphSource, 'place' | 'reportReturn'>;
  readonly signal: AbortSignal;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** Default: 1 s, doubled up to a minute. */
  readonly retries?: typeof RETRIES;
}

/** Resolves when it is reported, when 10 attempts have failed, and when `signal` is aborted. Never rejects. */
export async function reportReturn(ended: CanaryReturn, { source, signal, log, retries = RETRIES }: ReportOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await source.reportReturn?.(ended, signal);
      log.info(`reported to ${source.place} that the canary of release ${String(ended.release)} has ended`);
      return;
    } catch (error) {
      if (isAborted(signal)) return;
      if (attempt >= MAX_ATTEMPTS) {
        log.error('the end of a canary cannot be reported; this process alone has ended it', { error });
        return;
      }
      await delay(backoffMs(attempt, retries), undefined, { signal }).catch(() => undefined);
      if (isAborted(signal)) return;
    }
  }
}

function isAborted({ aborted }: AbortSignal): boolean {
  return aborted;
}
