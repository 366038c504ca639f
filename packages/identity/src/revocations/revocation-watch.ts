/** Receives revocations from the users subgraph over a WebSocket, and reconnects for as long as the process runs (ADR 10). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { type BackoffLimits, backoffMs } from '@trestle/service/process/backoff';
import { Gauge, type Registry } from 'prom-client';
import { WebSocket } from 'ws';
import { type Revocations, readRevocation } from './revocations.ts';

/** The server sends a ping every 5 s; after this time without a message or ping the connection is dead. */
const SILENCE_MS = 15_000;
const HANDSHAKE_MS = 3000;
const BACKOFF: BackoffLimits = { firstMs: 50, maxMs: 2000 };
const SETTLE_TIMEOUT_MS = 2000;
/** Processes that start together with the users subgraph cannot connect at first: a warning is logged only after this time. */
const QUIET_START_MS = 15_000;
/** A connection that is lost when the users subgraph restarts, or when all processes stop together, is logged only after this time. */
const QUIET_LOSS_MS = 2000;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Controls a running watch. */
export interface RevocationWatch {
  /** Resolves when the first list of revocations has been received, or after 2 s: a process starts without the list rather than not at all. */
  readonly settled: Promise<void>;
  /** Closes the connection and stops reconnecting. */
  readonly stop: () => void;
}

/** Configures a watch. */
export interface RevocationWatchOptions {
  /**
   * URL of the users subgraph's WebSocket. It sends `{"number", "revoked": […]}`, first with all current revocations; the client
   * acknowledges each message with its number.
   */
  readonly url: string;
  /** Receives every revocation. */
  readonly revocations: Pick<Revocations, 'add'>;
  readonly log: Log;
  /** Registry of the metric `trestle_revocations_current`. */
  readonly metrics: Registry;
}

/**
 * Starts to receive revocations. While the users subgraph cannot be reached, the revocations known so far stay in force; new ones are
 * missed, and an access token lives for at most 15 minutes.
 */
export function watchRevocations(options: RevocationWatchOptions): RevocationWatch {
  const watcher = new RevocationWatcher(options);
  void watcher.run();
  return {
    settled: watcher.settled,
    stop() {
      watcher.stop();
    },
  };
}

/** The users subgraph has sent what is not a list of revocations. */
class InvalidMessage extends Error {}

class RevocationWatcher {
  readonly settled: Promise<void>;
  readonly #options: RevocationWatchOptions;
  readonly #stopping = new AbortController();
  readonly #settleTimer: NodeJS.Timeout;
  #settle: () => void = () => undefined;
  /** Whether revocations are received as they happen. */
  #isCurrent = false;
  #wasCurrent = false;
  /** When the process started, or when the last connection that received revocations ended. */
  #lostAt = Date.now();
  #isLossLogged = false;
  #failures = 0;

  constructor(options: RevocationWatchOptions) {
    this.#options = options;
    this.settled = new Promise<void>((resolve) => (this.#settle = resolve));
    this.#settleTimer = setTimeout(this.#settle, SETTLE_TIMEOUT_MS).unref();
    const isCurrent = () => this.#isCurrent;
    new Gauge({
      name: 'trestle_revocations_current',
      help: 'Whether token revocations are received as they happen (1) or only earlier ones are known (0).',
      registers: [options.metrics],
      // With several workers: whether all receive them.
      aggregator: 'min',
      collect() {
        this.set(Number(isCurrent()));
      },
    });
  }

  /** Connects, and reconnects when the connection ends. Resolves when the watch is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const error = await this.#receive().catch((failure: unknown) => failure);
      if (this.#isCurrent) this.#lostAt = Date.now();
      this.#isCurrent = false;
      this.#logLoss(error);
      this.#failures++;
      await delay(backoffMs(this.#failures, BACKOFF), undefined, { signal }).catch(() => undefined);
    }
  }

  stop(): void {
    clearTimeout(this.#settleTimer);
    this.#settle();
    this.#stopping.abort();
  }

  /** Receives messages until the connection ends. Rejects with the reason when it is known. */
  async #receive(): Promise<void> {
    const { signal } = this.#stopping;
    const { url } = this.#options;
    const socket = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
    const terminate = () => {
      socket.terminate();
    };
    const silenceTimer = setTimeout(terminate, SILENCE_MS).unref();
    signal.addEventListener('abort', terminate);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.on('close', () => {
          resolve();
        });
        socket.on('ping', () => silenceTimer.refresh());
        socket.on('message', (data: Buffer) => {
          silenceTimer.refresh();
          try {
            this.#apply(socket, data);
          } catch (error) {
            reject(new InvalidMessage('The message is not a list of valid revocations', { cause: error }));
          }
        });
      });
    } finally {
      clearTimeout(silenceTimer);
      signal.removeEventListener('abort', terminate);
      terminate();
    }
  }

  #apply(socket: WebSocket, data: Buffer): void {
    const { number, revoked } = JSON.parse(data.toString()) as { readonly number: unknown; readonly revoked: readonly unknown[] };
    for (const each of revoked) {
      const revocation = readRevocation(each);
      if (!revocation) throw new Error('The message contains an invalid revocation');
      this.#options.revocations.add(revocation);
    }
    socket.send(String(number));
    if (!this.#isCurrent) this.#options.log.info('receiving token revocations');
    this.#isCurrent = true;
    this.#wasCurrent = true;
    this.#isLossLogged = false;
    this.#failures = 0;
    clearTimeout(this.#settleTimer);
    this.#settle();
  }

  /** Logs once each time the connection is lost for longer than a moment, and once when none was ever made; an invalid message at once. */
  #logLoss(error: unknown): void {
    const quietMs = this.#wasCurrent ? QUIET_LOSS_MS : QUIET_START_MS;
    const isQuiet = Date.now() - this.#lostAt < quietMs && !(error instanceof InvalidMessage);
    if (this.#isLossLogged || isQuiet || this.#stopping.signal.aborted) return;
    this.#options.log.warn('token revocations cannot be received', { error });
    this.#isLossLogged = true;
  }
}
