/** Applies the files of migrations/ to the database, each once and in the order of their names. */
import { readFile, readdir } from 'node:fs/promises';

const FOLDER = new URL('../migrations/', import.meta.url);
/** Any number that no other program uses as an advisory lock of this database. */
const LOCK = 4_011_001;

/** Applies what is missing, in one transaction. Processes that start at once wait for each other. */
export async function migrate(pool) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())');
    const { rows } = await client.query('SELECT name FROM migrations');
    const applied = new Set(rows.map(({ name }) => name));
    const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql') && !applied.has(name)).sort();
    for (const name of names) {
      await client.query(await readFile(new URL(name, FOLDER), 'utf8'));
      await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
