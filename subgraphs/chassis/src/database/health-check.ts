/** Checks that the database responds, on a connection of its own: a pool whose connections are in use shows nothing. */
import pg from 'pg';

const CONNECT_MS = 1000;
const RESPONSE_MS = 1000;

/** A check for the readiness probe. */
export interface HealthCheck {
  /** Resolves with true; rejects when the database cannot be reached or does not respond in time. Concurrent calls share one statement. */
  readonly isReachable: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Creates the check. It connects when it is first called, and again after a lost connection. */
export function createHealthCheck(url: string): HealthCheck {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_MS, query_timeout: RESPONSE_MS });
  pool.on('error', () => undefined);
  let running: Promise<boolean> | undefined;
  const check = async () => {
    await pool.query('SELECT 1');
    return true;
  };
  return {
    isReachable: () =>
      (running ??= check().finally(() => {
        running = undefined;
      })),
    close: () => pool.end(),
  };
}
