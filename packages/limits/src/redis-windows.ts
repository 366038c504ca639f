/** Counts units in sliding windows that all processes with the same Redis server share. */
import type { Log } from '@trestle/log';
import { Redis } from 'ioredis';
import { REFUND_SCRIPT, TAKE_SCRIPT } from './redis-script.ts';
import { type Count, WINDOW_MS } from './sliding-windows.ts';

/** How long Redis may take for a command, and for a connection. */
const COMMAND_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 2000;
/** How long a connection may take to close. The timer remains, and keeps the process running, when the connection was lost before. */
const DISCONNECT_TIMEOUT_MS = 100;
/** How long Redis is not used after a failure: at first, and at most. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
const KEY_PREFIX = 'trestle:limits:';

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

/**
 * Connects to Redis. A failure is logged once, and Redis is then not used for a time that doubles with each further failure; one request
 * at a time tries whether it can be used again.
 */
export function createRedisWindows(options: RedisWindowsOptions): RedisWindows {
  return new SharedWindows(options);
}

class SharedWindows implements RedisWindows {
  readonly #log: Log;
  readonly #client: Redis & Scripts;
  readonly settled: Promise<void>;
  #failures = 0;
  #pausedUntil = 0;
  #isWarned = false;
  #isClosed = false;

  constructor({ url, log, keyPrefix = KEY_PREFIX, timeoutMs = COMMAND_TIMEOUT_MS }: RedisWindowsOptions) {
    this.#log = log;
    const client = new Redis(url, {
      keyPrefix,
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      commandTimeout: timeoutMs,
      // A connection on which nothing is answered is opened anew.
      socketTimeout: CONNECT_TIMEOUT_MS,
      // What cannot be sent at once is counted locally instead.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: toPauseMs,
      // After a failover the old primary is read-only.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      scripts: { takeUnits: { lua: TAKE_SCRIPT, numberOfKeys: 1 }, refundUnits: { lua: REFUND_SCRIPT, numberOfKeys: 1 } },
    });
    this.#client = client as Redis & Scripts;
    client.on('error', (error: Error) => {
      this.#warn(error);
    });
    client.on('close', () => {
      this.#warn(new Error('The connection to Redis was closed.'));
    });
    client.on('ready', () => {
      this.#pausedUntil = 0;
      this.#recover();
    });
    this.settled = client.connect().catch((error: unknown) => {
      this.#warn(error);
    });
  }

  get isUsed(): boolean {
    return this.#client.status === 'ready' && performance.now() >= this.#pausedUntil;
  }

  async take(key: string, limit: number, units: number): Promise<Count | undefined> {
    if (!this.isUsed) return undefined;
    // While one request tries, the others do not wait for its outcome.
    if (this.#failures > 0) this.#pausedUntil = Infinity;
    try {
      const [isAllowed, remaining = 0, resetMs = 0, retryMs = 0, slot = 0] = await this.#client.takeUnits(key, limit, units, WINDOW_MS);
      this.#recover();
      return { isAllowed: isAllowed === 1, remaining, resetMs, retryMs, slot };
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  refund(key: string, units: number, slot: number): void {
    if (!this.isUsed) return;
    this.#client.refundUnits(key, units, slot).catch((error: unknown) => {
      this.#fail(error);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#client.disconnect();
  }

  #fail(error: unknown): void {
    // Commands that were sent together fail together.
    if (performance.now() < this.#pausedUntil && this.#pausedUntil !== Infinity) return;
    this.#failures++;
    this.#pausedUntil = performance.now() + toPauseMs(this.#failures);
    this.#warn(error);
  }

  #recover(): void {
    this.#failures = 0;
    this.#pausedUntil = 0;
    if (this.#isWarned) this.#log.info('Redis is used again: requests are counted for all processes together');
    this.#isWarned = false;
  }

  #warn(error: unknown): void {
    if (this.#isWarned || this.#isClosed) return;
    this.#isWarned = true;
    this.#log.warn('Redis cannot be used: this process counts requests alone until it can', { error });
  }
}

/** Returns the pause before the next attempt, in milliseconds, by the number of failures: doubled each time, and random by a quarter. */
function toPauseMs(failures: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)) * (0.75 + Math.random() / 4);
}
