/** One pool of connections to the subgraph's own database, with every SQL statement counted. */
import { PrismaPg } from '@prisma/adapter-pg';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import pg from 'pg';
import type { Query } from './event-log.ts';
import { ContextPool, withStatementSpans } from './statement-span.ts';

/** A statement that takes longer is ended by PostgreSQL, so that a stuck one can't hold its connection for ever. */
const STATEMENT_TIMEOUT_MS = 15_000;

export interface Database {
  /** What a Prisma client is built on. */
  readonly adapter: PrismaPg;
  /** Runs a statement of the chassis' own. */
  readonly query: Query;
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the pool; it connects when first used. The metric `trestle_sql_statements_total` counts what is sent. */
export function openDatabase({ url, metrics, connections = 10 }: { url: string; metrics: Registry; connections?: number }): Database {
  const statements = new Counter({ name: 'trestle_sql_statements_total', help: 'SQL statements sent.', registers: [metrics] });
  const address = new URL(url);
  class CountedClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const query = withStatementSpans(this.query.bind(this), address);
      Object.assign(this, {
        query: (...args: unknown[]) => {
          statements.inc();
          return query(...args);
        },
      });
    }
  }
  const pool = new ContextPool({ connectionString: url, max: connections, statement_timeout: STATEMENT_TIMEOUT_MS, Client: CountedClient });
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  return {
    adapter: new PrismaPg(pool, { disposeExternalPool: false }),
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => (await pool.query<Row>(text, [...values])).rows,
    isReachable: async () => {
      await pool.query('SELECT 1');
      return true;
    },
    close: () => pool.end(),
  };
}
