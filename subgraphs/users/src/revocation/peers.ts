/** Sends revocations to the other processes of users, and waits until no verifier of theirs accepts the tokens any more (ADR 10). */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { followSignal } from '@trestle/http-client/follow-signal';
import { type Revocation, readRevocation } from '@trestle/identity/revocations/revocations';
import type { Log } from '@trestle/log';
import { backoffMs } from '@trestle/service/process/backoff';
import pg from 'pg';

const CHANNEL = 'trestle_revocations';
/** The class of the advisory locks by which the processes that are connected know each other; the second key is a process's number. */
const PRESENCE_LOCK = 72707373;
const HIGHEST_NUMBER = 2 ** 31 - 1;
/** Longer than another process waits for its own verifiers. */
const ANSWER_MS = 4000;
const CONNECT_MS = 3000;
const QUERY_MS = 3000;
/** How often the connection is checked: one that is lost without an error receives nothing. */
const CHECK_MS = 5000;
const BACKOFF = { firstMs: 50, maxMs: 2000 };
const DISCONNECT_MS = 1000;

/** Notifies, and returns the numbers of the other processes that are connected. */
const SEND = `
  SELECT pg_notify($1, $2)::text, ARRAY(
    SELECT "objid"::int4 FROM pg_locks
    WHERE "locktype" = 'advisory' AND "objsubid" = 2 AND "classid" = $3::int4::oid AND "granted" AND "objid"::int4 <> $4::int4
      AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())
  ) AS "peers"`;

/** The connection of this process, and the number by which others know it. */
interface Connection {
  readonly client: pg.Client;
  readonly number: number;
}

export interface RevocationPeersOptions {
  /** The database of users. */
  readonly url: string;
  /** Sends a revocation to the verifiers of this process. Resolves when they have applied it. */
  readonly apply: (revocation: Revocation) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /** How long a revocation waits for the other processes, in milliseconds. Default: 4000. */
  readonly answerMs?: number;
}

/** A request to apply a revocation, or the answer of a process to it. */
interface Message {
  /** The number of the process that sends it. */
  readonly from: number;
  /** The number of the request, which is unique at the process that made it. */
  readonly request: number;
  readonly revocation?: unknown;
  /** In an answer: the process that made the request. */
  readonly to?: number;
}

/** A revocation whose answers are awaited. */
interface Pending {
  /** The processes that have not answered yet; undefined until they are known. */
  missing: Set<number> | undefined;
  readonly answered: Set<number>;
  readonly settle: () => void;
}

/**
 * Connects the processes of users by NOTIFY. They also read every revocation from the outbox. That can be later, because an event waits for
 * the commit of earlier ones, and the outbox does not report what was applied.
 */
export class RevocationPeers {
  readonly #options: RevocationPeersOptions;
  readonly #stopping = new AbortController();
  readonly #pending = new Map<number, Pending>();
  /** Processes that did not answer in time. They are not waited for until they answer again. */
  readonly #silent = new Set<number>();
  #connection: Connection | undefined;
  #requests = 0;
  #running: Promise<void> | undefined;

  constructor(options: RevocationPeersOptions) {
    this.#options = options;
  }

  /** Connects, and reconnects until it is stopped. Resolves when the first attempt has ended. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running = this.#run(resolve);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /**
   * Resolves when all other processes that are connected have applied the revocation, or after `answerMs`. The others read it from the
   * outbox, and so do all while this process is not connected.
   */
  async revoke(revocation: Revocation): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    const request = ++this.#requests;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#giveUp(request);
      }, this.#options.answerMs ?? ANSWER_MS);
      const settle = () => {
        clearTimeout(timer);
        this.#pending.delete(request);
        resolve();
      };
      this.#pending.set(request, { missing: undefined, answered: new Set(), settle });
      // The loss of the connection is logged where it is noticed.
      send(connection, { from: connection.number, request, revocation }).then((peers) => {
        this.#await(request, peers);
      }, settle);
    });
  }

  #await(request: number, peers: readonly number[]): void {
    for (const peer of this.#silent) if (!peers.includes(peer)) this.#silent.delete(peer);
    const pending = this.#pending.get(request);
    if (!pending) return;
    pending.missing = new Set(peers.filter((peer) => !pending.answered.has(peer) && !this.#silent.has(peer)));
    if (pending.missing.size === 0) pending.settle();
  }

  #giveUp(request: number): void {
    const { missing, settle } = this.#pending.get(request) ?? {};
    for (const peer of missing ?? []) this.#silent.add(peer);
    // Without an answer of the database it is not known who is missing; that is logged when the connection is found to be lost.
    if (missing) this.#options.log.warn('processes of users did not apply a revocation in time', { count: missing.size });
    settle?.();
  }

  async #receive(connection: Connection, text: string): Promise<void> {
    const { from, request, revocation, to } = JSON.parse(text) as Message;
    if (from === connection.number) return;
    this.#silent.delete(from);
    if (to === connection.number) this.#take(request, from);
    const revoked = readRevocation(revocation);
    if (!revoked) return;
    await this.#options.apply(revoked);
    await send(connection, { from: connection.number, request, to: from });
  }

  #take(request: number, from: number): void {
    const pending = this.#pending.get(request);
    pending?.answered.add(from);
    pending?.missing?.delete(from);
    if (pending?.missing?.size === 0) pending.settle();
  }

  async #run(onFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const onConnected = () => {
        failures = 0;
        onFirstAttempt();
      };
      await this.#connectUntilLost(onConnected).catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn('revocations reach the other processes of users late', { error });
      });
      onFirstAttempt();
      failures++;
      await delay(backoffMs(failures, BACKOFF), undefined, { signal }).catch(() => undefined);
    }
  }

  async #connectUntilLost(onConnected: () => void): Promise<void> {
    const { signal } = this.#stopping;
    const { url: connectionString } = this.#options;
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS, keepAlive: true });
    const connection: Connection = { client, number: randomInt(1, HIGHEST_NUMBER) };
    const connected = followSignal(signal);
    client.on('error', connected.abort);
    client.on('notification', ({ payload = '' }) => {
      // Without an answer the other process waits for `answerMs`, and then goes on.
      this.#receive(connection, payload).catch(() => undefined);
    });
    try {
      await client.connect();
      // In this order, because the others notify every process whose number they know.
      await client.query(`LISTEN ${CHANNEL}`);
      await takeNumber(connection);
      this.#connection = connection;
      onConnected();
      while (!signal.aborted) {
        await client.query('SELECT 1');
        await delay(CHECK_MS, undefined, { signal: connected.signal }).catch(() => undefined);
        connected.signal.throwIfAborted();
      }
    } finally {
      connected.end();
      this.#connection = undefined;
      for (const { settle } of [...this.#pending.values()]) settle();
      const closed = client.end().catch(() => undefined);
      await Promise.race([closed, delay(DISCONNECT_MS, undefined, { ref: false })]);
    }
  }
}

/** Resolves with the numbers of the other processes that are connected. */
async function send({ client, number }: Connection, message: Message): Promise<readonly number[]> {
  const { rows } = await client.query<{ peers: number[] }>(SEND, [CHANNEL, JSON.stringify(message), PRESENCE_LOCK, number]);
  return rows[0]?.peers ?? [];
}

/** Takes the number; it is free again when the connection ends. Throws when another process has it. */
async function takeNumber({ client, number }: Connection): Promise<void> {
  const text = 'SELECT pg_try_advisory_lock($1::int4, $2::int4) AS "isTaken"';
  const { rows } = await client.query<{ isTaken: boolean }>(text, [PRESENCE_LOCK, number]);
  if (!rows[0]?.isTaken) throw new Error('Another process has this number.');
}
