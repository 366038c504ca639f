/** Opens the databases of tests. */
import { Registry } from 'prom-client';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';

/** Tests that share a busy machine may not get ten connections at once within the limit of a subgraph. */
const CONNECT_TIMEOUT_MS = 120_000;

/** Opens a pool as `openDatabase` does, with metrics of its own by default, and with time to connect while the machine is busy. */
export function openTestDatabase(options: Omit<DatabaseOptions, 'metrics'> & Partial<Pick<DatabaseOptions, 'metrics'>>): Database {
  return openDatabase({ metrics: new Registry(), connectTimeoutMs: CONNECT_TIMEOUT_MS, ...options });
}
