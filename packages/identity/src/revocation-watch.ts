/** Learns of revocations from the process that knows them all, again and again for as long as this one runs (ADR 10). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { Gauge, type Registry } from 'prom-client';
import { WebSocket } from 'ws';
import { type Revocations, readRevocation } from './revocations.ts';

/** The other side pings every 5 s; a connection on which nothing comes for longer is dead. */
const SILENCE_MS = 15_000;
const HANDSHAKE_MS = 3000;
const BACKOFF_MS = { first: 50, most: 2000 };
const PATIENCE_MS = 2000;
/** Processes that start together with the one that tells need not reach it at once: only a longer wait is worth a warning. */
const QUIET_START_MS = 15_000;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface RevocationWatch {
  /** Resolves when all that matter are known, or after two seconds: a process starts without them rather than not at all. */
  readonly settled: Promise<void>;
  readonly stop: () => void;
}

export interface RevocationWatchOptions {
  /** Where the users subgraph tells them, by WebSocket: `{"number", "revoked": […]}`, first with all so far; each is answered by its number. */
  readonly url: string;
  readonly revocations: Pick<Revocations, 'add'>;
  readonly log: Log;
  readonly metrics: Registry;
}

/** While nobody can be asked, what is known already is all that is known: tokens live for 15 minutes only. */
export function watchRevocations({ url, revocations, log, metrics }: RevocationWatchOptions): RevocationWatch {
  const startedAt = Date.now();
  const state = { isCurrent: false, wasCurrent: false, isLossTold: false, backoffMs: BACKOFF_MS.first };
  const stopping = new AbortController();
  const { signal } = stopping;
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const patience = setTimeout(settle, PATIENCE_MS).unref();
  new Gauge({
    name: 'trestle_revocations_current',
    help: 'Whether revoked tokens are known of as they are revoked (1), or only those of before (0).',
    registers: [metrics],
    collect() {
      this.set(Number(state.isCurrent));
    },
  });

  const take = (socket: WebSocket, data: Buffer) => {
    const { number, revoked } = JSON.parse(data.toString()) as { readonly number: unknown; readonly revoked: readonly unknown[] };
    for (const each of revoked) {
      const revocation = readRevocation(each);
      if (!revocation) throw new Error('This is no revocation');
      revocations.add(revocation);
    }
    socket.send(String(number));
    if (!state.isCurrent) log.info('knows of revoked tokens');
    Object.assign(state, { isCurrent: true, wasCurrent: true, isLossTold: false, backoffMs: BACKOFF_MS.first });
    clearTimeout(patience);
    settle();
  };

  /** Resolves with the end of the connection. Rejects with why it ended, if that can be said. */
  async function follow(): Promise<void> {
    const socket = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
    const end = () => {
      socket.terminate();
    };
    const silence = setTimeout(end, SILENCE_MS).unref();
    signal.addEventListener('abort', end);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.on('close', () => {
          resolve();
        });
        socket.on('ping', () => silence.refresh());
        socket.on('message', (data: Buffer) => {
          silence.refresh();
          try {
            take(socket, data);
          } catch (error) {
            reject(error instanceof Error ? error : new Error('The message is no list of revocations'));
          }
        });
      });
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
      end();
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const error = await follow().catch((failure: unknown) => failure);
      // Told once for each time that it is lost, the first included: it may be that it never came about.
      const isStarting = !state.wasCurrent && Date.now() - startedAt < QUIET_START_MS;
      if (!state.isLossTold && !isStarting && !stopping.signal.aborted) {
        log.warn('does not learn of revoked tokens', { error });
        state.isLossTold = true;
      }
      state.isCurrent = false;
      await delay(state.backoffMs, undefined, { signal }).catch(() => undefined);
      state.backoffMs = Math.min(state.backoffMs * 2, BACKOFF_MS.most);
    }
  }

  void run();
  return {
    settled,
    stop() {
      clearTimeout(patience);
      settle();
      stopping.abort();
    },
  };
}
