/** Keys that are loaded by HTTP, refreshed, and kept while their source fails. */
import type { KeyObject } from 'node:crypto';
import type { Log } from '@trestle/log';
import { type KeySet, areEqual } from '../tokens/key-set.ts';

const FETCH_TIMEOUT_MS = 5000;
const MAX_DOCUMENT_BYTES = 256 * 1024;
/** The longest time that a starting process waits for its first keys. */
const SETTLE_TIMEOUT_MS = 3000;
/** The longest time that a token waits for its key to be loaded. */
const WAIT_MS = 2000;
/** The most tokens that wait for keys; any further token is refused at once. */
const MAX_WAITING = 1000;
const REFRESH_MS = 5 * 60 * 1000;
/** After a failure, and when a token names an unknown key, the keys are loaded again, but not more often than this. */
const RETRY_MS = 5000;

/** Configures remote keys. */
export interface RemoteKeysOptions {
  /** Loads the keys. Rejects when they cannot be loaded; the last ones then stay in force. */
  readonly load: () => Promise<KeySet>;
  /** What the keys are of, for the log. */
  readonly name: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly refreshMs?: number;
  readonly retryMs?: number;
}

/** Loads keys by HTTP until it is stopped. */
export class RemoteKeys {
  /** Resolves when the keys were loaded, or after 3 s: a process starts without the keys rather than not at all. */
  readonly settled: Promise<void>;
  readonly #options: RemoteKeysOptions;
  readonly #refreshMs: number;
  readonly #retryMs: number;
  readonly #listeners: (() => void)[] = [];
  #set: KeySet | undefined;
  #lastAttempt = 0;
  #loading: Promise<void> | undefined;
  /** Resolves when the keys that are being loaded were loaded, or after 2 s. */
  #arrival: Promise<void> | undefined;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasFailed = false;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    this.#refreshMs = options.refreshMs ?? REFRESH_MS;
    this.#retryMs = options.retryMs ?? RETRY_MS;
    this.settled = within(this.#load(), SETTLE_TIMEOUT_MS);
  }

  /** Returns the key, or undefined. For an id that is not known the keys are loaded again: later tokens find it. */
  find(kid: string | undefined, algorithm: string): KeyObject | undefined {
    const found = this.#set?.find(kid, algorithm);
    if (!found && performance.now() - this.#lastAttempt >= this.#retryMs) void this.#load();
    return found;
  }

  /**
   * Resolves when the keys that are being loaded were loaded, or after 2 s. Returns undefined when none are being loaded, and when 1,000
   * callers wait already.
   */
  waitForLoad(): Promise<void> | undefined {
    if (!this.#loading || this.#waiting >= MAX_WAITING) return undefined;
    this.#waiting++;
    return (this.#arrival ??= within(this.#loading, WAIT_MS)).finally(() => {
      this.#waiting--;
    });
  }

  /** Calls `listener` after each load that has changed the keys. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Stops refreshing. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #load(): Promise<void> {
    this.#lastAttempt = performance.now();
    return (this.#loading ??= this.#attempt().finally(() => {
      this.#loading = undefined;
      this.#arrival = undefined;
      clearTimeout(this.#timer);
      if (!this.#isStopped) this.#timer = setTimeout(() => void this.#load(), this.#hasFailed ? this.#retryMs : this.#refreshMs).unref();
    }));
  }

  async #attempt(): Promise<void> {
    const { load, name, log } = this.#options;
    const before = this.#set;
    try {
      this.#set = await load();
      if (this.#hasFailed) log.info(`keys of ${name} were loaded again`);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log.warn(`keys of ${name} cannot be loaded; the last ones stay in force`, { error });
      this.#hasFailed = true;
      return;
    }
    // Any token with an unknown key id causes a load, which must not discard what was verified with the same keys.
    if (before && areEqual(before, this.#set)) return;
    for (const listener of this.#listeners) listener();
  }
}

/** Resolves with `promise`, or after a time. */
function within(promise: Promise<void>, ms: number): Promise<void> {
  return Promise.race([promise, new Promise<void>((resolve) => setTimeout(resolve, ms).unref())]);
}

/**
 * Fetches a JSON document. Follows no redirect. Rejects after 5 s, for another status than 2xx, and for more than 256 KiB.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const response = await fetch(url, { redirect: 'error', headers: { accept: 'application/json' }, signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${String(response.status)}.`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_DOCUMENT_BYTES) throw new Error(`The response of ${url} exceeds the limit of ${String(MAX_DOCUMENT_BYTES)} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
