/** One pool of connections to the subgraph's own database, with time limits below the gateway's, and every SQL statement counted. */
import { PrismaPg } from '@prisma/adapter-pg';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import pg from 'pg';
import { hasDeadline, lateness } from './deadline.ts';
import type { Query } from './query.ts';
import { createHealthCheck } from './health-check.ts';
import { type Send, TransactionState, runInTransaction } from './own-transaction.ts';
import { ContextPool, withStatementSpans } from './statement-span.ts';

export interface DatabaseLimits {
  /** The most connections of the pool. */
  readonly connections: number;
  /** How long a statement may wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** How long a statement may take, in milliseconds; PostgreSQL ends it then. */
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock, in milliseconds. */
  readonly lockTimeoutMs: number;
}

/** What holds unless settings say otherwise. All that one mutation can wait for ends before the gateway's `SUBGRAPH_TIMEOUT_MS`. */
export const DATABASE_LIMITS: DatabaseLimits = { connections: 10, connectTimeoutMs: 3000, statementTimeoutMs: 5000, lockTimeoutMs: 2000 };

/** For Prisma's transactions: the pool's own limit ends the wait for a connection, PostgreSQL's the statements; this is the bound of the whole. */
export const TRANSACTION_LIMITS = { maxWait: 4000, timeout: 8000 };

/** How much later than PostgreSQL itself the driver gives a statement up: then PostgreSQL does not answer at all. */
const SILENCE_MS = 500;

export interface Database {
  /** What a Prisma client is built on. */
  readonly adapter: PrismaPg;
  /** Runs a statement of the chassis' own. */
  readonly query: Query;
  /** Resolves with whether the database answers. It has a connection of its own, so that it does not wait for one of the pool. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions extends Partial<DatabaseLimits> {
  readonly url: string;
  readonly metrics: Registry;
}

/** Opens the pool; it connects when first used. The metric `trestle_sql_statements_total` counts what is sent. */
export function openDatabase({ url, metrics, ...given }: DatabaseOptions): Database {
  const limits = { ...DATABASE_LIMITS, ...given };
  const statements = new Counter({ name: 'trestle_sql_statements_total', help: 'SQL statements sent.', registers: [metrics] });
  const pool = new ContextPool({
    connectionString: url,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    query_timeout: limits.statementTimeoutMs + SILENCE_MS,
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.statementTimeoutMs,
    Client: createClientClass(new URL(url), () => {
      statements.inc();
    }),
  });
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  const health = createHealthCheck(url);
  return {
    adapter: new PrismaPg(pool, { disposeExternalPool: false }),
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => (await pool.query<Row>(text, [...values])).rows,
    isReachable: health.isReachable,
    async close() {
      await Promise.all([pool.end(), health.close()]);
    },
  };
}

/**
 * A client that counts its statements, keeps to the deadline of the mutation that they belong to, runs each write of a mutation in a
 * transaction, and is given up when PostgreSQL is silent.
 */
function createClientClass(address: URL, count: () => void): typeof pg.Client {
  return class extends pg.Client {
    readonly #transaction = new TransactionState();

    constructor(config?: pg.ClientConfig) {
      super(config);
      const send = withStatementSpans(this.query.bind(this), address);
      const sendCounted = (...args: readonly unknown[]): unknown => {
        count();
        const sent = send(...args);
        if (sent instanceof Promise) return sent.catch((error: unknown) => this.#giveUpIfSilent(error));
        return sent;
      };
      const query = (...args: unknown[]): unknown => {
        const text = textOf(args[0]);
        const late = lateness(text);
        if (late) return settle(Promise.reject(toLateError(late)), args.at(-1));
        if (!this.#transaction.isBareWrite(text) || !hasDeadline()) return sendCounted(...args);
        const statement = args.filter((each) => typeof each !== 'function');
        return settle(runInTransaction(sendCounted as Send, { args: statement, checkCommit }), args.at(-1));
      };
      Object.assign(this, { query });
    }

    /** A statement that was not answered is still there: the connection can't be used again, and its transaction must not go on. */
    #giveUpIfSilent(error: unknown): never {
      if (error instanceof Error && error.message === 'Query read timeout') this.end().catch(() => undefined);
      throw error;
    }
  };
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : ((statement as { text?: string } | undefined)?.text ?? '');
}

/** PostgreSQL's own codes: 53400 for what is not begun any more, 57014 for what is not committed any more. */
const CODES = { late: '53400', expired: '57014' } as const;

function checkCommit(): void {
  const late = lateness('COMMIT');
  if (late) throw toLateError(late);
}

function toLateError(late: keyof typeof CODES): Error {
  return Object.assign(new pg.DatabaseError('The time of the mutation is over', 0, 'error'), { code: CODES[late], severity: 'ERROR' });
}

/** Gives a result as the driver does: to the callback that is the last argument, or else by the promise. */
function settle(running: Promise<unknown>, last: unknown): unknown {
  if (typeof last !== 'function') return running;
  const callback = last as (error: unknown, result?: unknown) => void;
  running.then(
    (result) => {
      callback(undefined, result);
    },
    (error: unknown) => {
      callback(error);
    },
  );
  return undefined;
}
