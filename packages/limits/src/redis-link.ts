/** A connection to Redis that no request has to wait for: commands have a time limit, and after a failure Redis is not used for a time. */
import type { Log } from '@trestle/log';
import { Redis } from 'ioredis';

/** How long Redis may take for a command, and for a connection. */
const COMMAND_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 2000;
/** How long a connection may take to close. The timer remains, and keeps the process running, when the connection was lost before. */
const DISCONNECT_TIMEOUT_MS = 100;
/** How long Redis is not used after a failure: at first, and at most. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** Configures a connection. */
export interface RedisLinkOptions {
  /** Such as `redis://localhost:6379/0` or `rediss://…`. */
  readonly url: string;
  readonly log: Log;
  /** Begins the name of every key. */
  readonly keyPrefix: string;
  /** How long Redis may take for a command, in milliseconds; 500 by default. */
  readonly timeoutMs?: number | undefined;
  /** Each becomes a command of its own; without `numberOfKeys` its first argument is that number. */
  readonly scripts: Readonly<Record<string, { readonly lua: string; readonly numberOfKeys?: number }>>;
  /** What is logged when Redis cannot be used, and when it can be used again. */
  readonly messages: { readonly lost: string; readonly found: string };
}

/** A connection whose client has the commands of the scripts. */
export class RedisLink<Commands extends object> {
  readonly client: Redis & Commands;
  /** Resolves when Redis can be used, or when it turned out that it cannot. */
  readonly settled: Promise<void>;
  readonly #log: Log;
  readonly #messages: RedisLinkOptions['messages'];
  #failures = 0;
  #pausedUntil = 0;
  #isWarned = false;
  #isClosed = false;

  /** Connects. A failure is logged once. */
  constructor({ url, log, keyPrefix, timeoutMs = COMMAND_TIMEOUT_MS, scripts, messages }: RedisLinkOptions) {
    this.#log = log;
    this.#messages = messages;
    const client = new Redis(url, {
      keyPrefix,
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      commandTimeout: timeoutMs,
      // A connection that gets no response is replaced.
      socketTimeout: CONNECT_TIMEOUT_MS,
      // Nothing waits until it can be sent.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: toPauseMs,
      // After a failover the old primary is read-only.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      scripts,
    });
    this.client = client as Redis & Commands;
    client.on('error', (error: Error) => {
      this.#warn(error);
    });
    client.on('close', () => {
      this.#warn(new Error('The connection to Redis was closed.'));
    });
    client.on('ready', () => {
      this.#recover();
    });
    this.settled = client.connect().catch((error: unknown) => {
      this.#warn(error);
    });
  }

  /** Whether Redis is used now. While it is not, {@link run} resolves with undefined at once. */
  get isUsed(): boolean {
    return this.client.status === 'ready' && performance.now() >= this.#pausedUntil;
  }

  /**
   * Runs a command. Resolves with undefined when Redis is not used or did not answer in time; never rejects. After a failure Redis is not used for a time
   * that doubles with each further failure; then one command at a time tries whether it can be used again.
   */
  async run<Result>(command: (client: Redis & Commands) => Promise<Result>): Promise<Result | undefined> {
    if (!this.isUsed) return undefined;
    // While one command tries, the others do not wait for its outcome.
    if (this.#failures > 0) this.#pausedUntil = Infinity;
    try {
      const result = await command(this.client);
      this.#recover();
      return result;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Notes a failed command that did not {@link run}. */
  fail(error: unknown): void {
    // Commands that were sent together fail together.
    if (performance.now() < this.#pausedUntil && this.#pausedUntil !== Infinity) return;
    this.#failures++;
    this.#pausedUntil = performance.now() + toPauseMs(this.#failures);
    this.#warn(error);
  }

  close(): void {
    this.#isClosed = true;
    this.client.disconnect();
  }

  #recover(): void {
    this.#failures = 0;
    this.#pausedUntil = 0;
    if (this.#isWarned) this.#log.info(this.#messages.found);
    this.#isWarned = false;
  }

  #warn(error: unknown): void {
    if (this.#isWarned || this.#isClosed) return;
    this.#isWarned = true;
    this.#log.warn(this.#messages.lost, { error });
  }
}

/** Returns the pause before the next attempt, in milliseconds, by the number of failures: doubled each time, and random by a quarter. */
function toPauseMs(failures: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)) * (0.75 + Math.random() / 4);
}
