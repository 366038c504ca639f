/** Reads new events when PostgreSQL notifies: one connection that LISTENs, opened when first needed and again whenever it is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { type Fault, fail } from '@trestle/schema/errors';
import { backoffMs } from '@trestle/service/process/backoff';
import pg from 'pg';
import type { Query } from '../../database/query.ts';

const CONNECT_MS = 3000;
const QUERY_MS = 5000;
/** Reading without a notification also detects a connection that was lost without an error. */
const POLL_MS = 2000;
/**
 * The pause after a read: so many times its duration, within these bounds. Writers notify more often than it pays to read, and those that commit
 * beside each other do not notify at all: while they do, it is read again after each pause (ADR 24).
 */
const PAUSE = { factor: 4, minMs: 10, maxMs: 50 };
const BACKOFF = { firstMs: 50, maxMs: 1000 };
/** How long subscribers wait for a database that cannot be reached. */
const OUTAGE_MS = 10_000;
const DISCONNECT_MS = 1000;

/** What a reader is created from. */
export interface EventReaderOptions {
  readonly url: string;
  /** The channel that writers notify, `trestle_events` by default. A constant of the code. */
  readonly channel?: string;
  readonly log: Log;
  /**
   * Reads new events, and resolves with whether none is about to be committed or notified of. Called again and again, never twice at a time. `isFirst` is true on a
   * new connection until a read has succeeded: the database may be another one than before.
   */
  readonly read: (query: Query, isFirst: boolean) => Promise<boolean>;
  /** Called when the database could not be reached for `outageMs`. */
  readonly onOutage: (error: Error) => void;
  readonly outageMs?: number;
  /** How often new events are read without a notification, in milliseconds. Default: 2000. */
  readonly pollMs?: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Keeps the reads of one process up to date with its database. */
export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #waiting: Waiter[] = [];
  #isClosed = false;
  #isOutage = false;
  /** Whether a notification has come since the last read began. */
  #isNotified = false;
  /** Lost connections since the last successful read. */
  #failures = 0;
  #wake: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #outageTimer: NodeJS.Timeout | undefined;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  /** Resolves when everything has been read that was committed before the call. Rejects with SERVICE_UNAVAILABLE. */
  catchUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(stopping());
        return;
      }
      this.#waiting.push({ resolve, reject });
      this.#notify();
      this.#running ??= this.#run();
    });
  }

  /** Closes the connection. Rejects those who wait in `catchUp`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#outageTimer);
    this.#rejectAll(stopping());
    // Also when it is about to sleep.
    this.#notify();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#readUntilLost().catch((error: unknown) => {
        this.#onFailure(error);
      });
      this.#failures++;
      await delay(backoffMs(this.#failures, BACKOFF));
    }
  }

  /** Connects, and reads until the connection fails or the reader is closed. */
  async #readUntilLost(): Promise<void> {
    const { url: connectionString, pollMs = POLL_MS } = this.#options;
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS, keepAlive: true });
    const connection: { failure?: Error } = {};
    client.on('error', (error) => {
      connection.failure = error;
      this.#notify();
    });
    client.on('notification', () => {
      this.#notify();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${this.#options.channel ?? 'trestle_events'}`);
      for (let isFirst = true; !this.#isClosed; isFirst = false) {
        if (connection.failure) throw connection.failure;
        const begunAt = performance.now();
        const isSettled = await this.#readOnce(client, isFirst);
        await delay(pauseAfter(performance.now() - begunAt));
        // A notification may have come meanwhile.
        if (isSettled && !this.#isNotified) await this.#sleep(pollMs);
      }
    } finally {
      const ended = client.end().catch(() => undefined);
      await Promise.race([ended, delay(DISCONNECT_MS, undefined, { ref: false })]);
    }
  }

  async #readOnce(client: pg.Client, isFirst: boolean): Promise<boolean> {
    this.#isNotified = false;
    const due = this.#waiting.splice(0);
    const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    const isSettled = await this.#options.read(query, isFirst).catch((error: unknown) => {
      this.#waiting.unshift(...due);
      throw error;
    });
    clearTimeout(this.#outageTimer);
    this.#outageTimer = undefined;
    this.#isOutage = false;
    this.#failures = 0;
    for (const { resolve } of due) resolve();
    return isSettled;
  }

  #onFailure(error: unknown): void {
    if (this.#isClosed) return;
    const { log, outageMs = OUTAGE_MS } = this.#options;
    log.error('live events are interrupted', { error });
    if (this.#isOutage) this.#reportOutage();
    else
      this.#outageTimer ??= setTimeout(() => {
        this.#reportOutage();
      }, outageMs).unref();
  }

  #reportOutage(): void {
    this.#isOutage = true;
    const error = unavailable();
    this.#rejectAll(error);
    this.#options.onOutage(error);
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function pauseAfter(readMs: number): number {
  return Math.min(Math.max(PAUSE.factor * readMs, PAUSE.minMs), PAUSE.maxMs);
}

/** Returns the error of a process that stops. */
export function stopping(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'The service is shutting down. Retry after 1 second.', { retryAfterSeconds: 1 });
}

/** Returns the error while events cannot be read from the database. */
export function unavailable(cause?: unknown): Fault {
  return fail('SERVICE_UNAVAILABLE', 'Events are not available. Retry after 1 second.', { cause, retryAfterSeconds: 1 });
}
