/** Whether the database answers, asked on a connection of its own: a pool that is in use says nothing about that. */
import pg from 'pg';

const CONNECT_MS = 1000;
const ANSWER_MS = 1000;

export interface HealthCheck {
  /** Resolves with true; rejects when the database can't be reached or does not answer in time. Calls at the same time share one statement. */
  readonly isReachable: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Creates the check; it connects when it is first asked, and again after a loss. */
export function createHealthCheck(url: string): HealthCheck {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_MS, query_timeout: ANSWER_MS });
  pool.on('error', () => undefined);
  let asking: Promise<boolean> | undefined;
  const ask = async () => {
    await pool.query('SELECT 1');
    return true;
  };
  return {
    isReachable: () =>
      (asking ??= ask().finally(() => {
        asking = undefined;
      })),
    close: () => pool.end(),
  };
}
