/** Counts units in sliding windows that all processes with the same Redis server share. */
import type { Log } from '@trestle/log';
import { RedisLink } from './redis-link.ts';
import { REFUND_SCRIPT, TAKE_SCRIPT } from './redis-script.ts';
import { type Count, WINDOW_MS } from './sliding-windows.ts';

const KEY_PREFIX = 'trestle:limits:';
const MESSAGES = {
  lost: 'Redis cannot be used: requests are counted without it until it can',
  found: 'Redis is used again: requests are counted for all processes together',
};

/** Counts units in Redis. */
export interface RedisWindows {
  /** Resolves when Redis can be used, or when it turned out that it cannot. */
  readonly settled: Promise<void>;
  /** Whether Redis is used now. While it is not, {@link take} resolves with undefined at once. */
  readonly isUsed: boolean;
  /** Takes units as `SlidingWindows.take` does. Resolves with undefined when Redis did not answer in time; never rejects. */
  take(key: string, limit: number, units: number): Promise<Count | undefined>;
  /** Returns units that were taken. Does not wait, and does not report failures: the units then count until they leave the window. */
  refund(key: string, units: number, slot: number): void;
  close(): void;
}

/** Configures the counting in Redis. */
export interface RedisWindowsOptions {
  /** Such as `redis://localhost:6379/0` or `rediss://…`. */
  readonly url: string;
  readonly log: Log;
  /** Begins the name of every key; `trestle:limits:` by default. */
  readonly keyPrefix?: string;
  /** How long Redis may take for a command, in milliseconds; 500 by default. */
  readonly timeoutMs?: number;
}

interface Scripts {
  takeUnits(key: string, limit: number, units: number, windowMs: number): Promise<readonly number[]>;
  refundUnits(key: string, units: number, slot: number): Promise<number>;
}

/** Connects to Redis. A failure is logged once; then Redis is not asked for a time ({@link RedisLink}). */
export function createRedisWindows({ keyPrefix = KEY_PREFIX, ...options }: RedisWindowsOptions): RedisWindows {
  const scripts = { takeUnits: { lua: TAKE_SCRIPT, numberOfKeys: 1 }, refundUnits: { lua: REFUND_SCRIPT, numberOfKeys: 1 } };
  const link = new RedisLink<Scripts>({ ...options, keyPrefix, scripts, messages: MESSAGES });
  return {
    settled: link.settled,
    get isUsed() {
      return link.isUsed;
    },
    async take(key, limit, units) {
      const taken = await link.run((client) => client.takeUnits(key, limit, units, WINDOW_MS));
      if (!taken) return undefined;
      const [isAllowed, remaining = 0, resetMs = 0, retryMs = 0, slot = 0] = taken;
      return { isAllowed: isAllowed === 1, remaining, resetMs, retryMs, slot };
    },
    refund(key, units, slot) {
      if (!link.isUsed) return;
      link.client.refundUnits(key, units, slot).catch((error: unknown) => {
        link.fail(error);
      });
    },
    close() {
      link.close();
    },
  };
}
