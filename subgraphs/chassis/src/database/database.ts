/** The pool of connections to the subgraph's own database, with time limits below the gateway's; it counts every SQL statement. */
import { PrismaPg } from '@prisma/adapter-pg';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import pg from 'pg';
import { hasDeadline, lateness } from './deadline.ts';
import { createHealthCheck } from './health-check.ts';
import type { Query } from './query.ts';
import { type Send, TransactionState, runInTransaction } from './write-transaction.ts';
import { ContextPool, withStatementSpans } from './statement-span.ts';

/** Limits of the pool and of its statements. */
export interface DatabaseLimits {
  /** The most connections of the pool. */
  readonly connections: number;
  /** How long a statement may wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** How long a statement may take, in milliseconds; then PostgreSQL cancels it. */
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock, in milliseconds. */
  readonly lockTimeoutMs: number;
}

/** The defaults. Everything that one mutation can wait for ends before the gateway's `SUBGRAPH_TIMEOUT_MS`. */
export const DATABASE_LIMITS: DatabaseLimits = { connections: 10, connectTimeoutMs: 3000, statementTimeoutMs: 5000, lockTimeoutMs: 2000 };

/** The limits of Prisma's transactions as a whole, in milliseconds; the limits of the pool and of PostgreSQL end waits and statements. */
export const TRANSACTION_LIMITS = { maxWait: 4000, timeout: 8000 };

/** How much later than PostgreSQL the driver abandons a statement: by then PostgreSQL does not respond at all. */
const SILENCE_MS = 500;

/** A subgraph's database. */
export interface Database {
  /** The driver adapter for a Prisma client. */
  readonly adapter: PrismaPg;
  /** Runs a statement of the chassis. */
  readonly query: Query;
  /** Runs statements in one transaction: committed when `work` resolves, rolled back when it rejects. */
  readonly transact: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
  /** Resolves when the database responds, and rejects when it does not. It uses a connection of its own, so it does not wait for the pool. */
  readonly isReachable: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Where the database is, and limits that differ from the defaults. */
export interface DatabaseOptions extends Partial<DatabaseLimits> {
  readonly url: string;
  readonly metrics: Registry;
}

/** Opens the pool. It connects when it is first used. The metric `trestle_sql_statements_total` counts the statements sent. */
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
  // The pool replaces a connection that is lost while idle; without a listener the error would end the process.
  pool.on('error', () => undefined);
  const health = createHealthCheck(url);
  return {
    adapter: new PrismaPg(pool, { disposeExternalPool: false }),
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => (await pool.query<Row>(text, [...values])).rows,
    transact: (work) => transact(pool, work),
    isReachable: health.isReachable,
    async close() {
      await Promise.all([pool.end(), health.close()]);
    },
  };
}

async function transact<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  // A connection that is lost between two statements would otherwise end the process; the next statement reports it.
  const onLost = (error: Error) => {
    failure = error;
  };
  client.on('error', onLost);
  const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;
  try {
    await client.query('BEGIN');
    const result = await work(query);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection on which the rollback fails too is closed, which ends its transaction.
    await client.query('ROLLBACK').catch(onLost);
    throw error;
  } finally {
    client.off('error', onLost);
    client.release(failure);
  }
}

/**
 * Creates the class of a client that counts its statements, keeps to the deadline of their mutation, runs each single write of a mutation
 * in a transaction, and closes when PostgreSQL does not respond.
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
        if (sent instanceof Promise) return sent.catch((error: unknown) => this.#closeIfSilent(error));
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

    /** A statement without a response may still run: the connection must not be used again, and its transaction must not continue. */
    #closeIfSilent(error: unknown): never {
      if (error instanceof Error && error.message === 'Query read timeout') this.end().catch(() => undefined);
      throw error;
    }
  };
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : ((statement as { text?: string } | undefined)?.text ?? '');
}

/** PostgreSQL's own codes: 53400 for a statement that is not sent, 57014 for a transaction that is not committed. */
const CODES = { late: '53400', expired: '57014' } as const;

function checkCommit(): void {
  const late = lateness('COMMIT');
  if (late) throw toLateError(late);
}

function toLateError(late: keyof typeof CODES): Error {
  return Object.assign(new pg.DatabaseError('The deadline of the mutation has passed', 0, 'error'), {
    code: CODES[late],
    severity: 'ERROR',
  });
}

/** Delivers a result as the driver does: to the callback that is the last argument, or else by the promise. */
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
