/** Connects to a database for a few statements, such as a migration or the creation of a database. */
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to the database of `url`, calls `task`, and closes the connection, which rolls back an open transaction. Returns what `task` returns. */
export async function withClient<T>(url: string, task: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks fails the statement in flight; without a listener it would also end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await task(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
