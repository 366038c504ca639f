/** The migration of an outbox with partitions to plain tables, on databases that have events. */
import { describe, expect, it } from '@jest/globals';
import { createOldTestDatabase } from '@trestle/postgres/old-test-database';
import pg from 'pg';
import type { Query } from '../../database/query.ts';
import { maintainOutbox, readBounds, readEvents } from './event-log.ts';

const FIRST_NEW = '20261217000000_outbox_tables';
const ROWS: Readonly<Record<string, (id: string) => string>> = {
  users: (id) => `INSERT INTO users (id, email, name) VALUES ('${id}', '${id}@example.org', 'X')`,
  orders: (id) =>
    `INSERT INTO products (id, name, description, category, price, currency, stock) VALUES (${id.slice(4)}, 'X', 'X', 'x', 1, 'EUR', 1)`,
  content: (id) => `INSERT INTO posts (id, "authorId", title) VALUES ('${id}', 'usr_1', 'X')`,
};

/** Runs `work` in a database of the subgraph in which only the migrations before the new ones were applied. `upgrade` applies the others. */
async function withOldDatabase(subgraph: string, work: (query: Query, upgrade: () => Promise<string[]>) => Promise<void>): Promise<void> {
  const adminUrl = process.env['TEST_PG_URL'] ?? '';
  const database = await createOldTestDatabase({ subgraph, adminUrl, before: FIRST_NEW });
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    await work(query, () => database.upgrade());
  } finally {
    await client.end();
    await database.drop();
  }
}

describe('an outbox with partitions', () => {
  it.each(Object.entries(ROWS))('keeps its events in %s, counts on, and is dropped when they are old', async (subgraph, insert) => {
    await withOldDatabase(subgraph, async (query, upgrade) => {
      const stored = () => readEvents(query, { after: 0, upTo: 1000, limit: 1000 });
      for (const id of ['usr_91', 'usr_92', 'usr_93']) await query(insert(id));
      await query(`UPDATE outbox SET "createdAt" = "createdAt" - interval '3 years' WHERE position <= 1`);
      const before = await stored();
      expect(await upgrade()).toContain(FIRST_NEW);
      expect(before.map(({ position }) => position)).toEqual([1, 2, 3]);
      expect(await stored()).toEqual(before);
      await query(insert('usr_94'));
      expect((await stored()).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
      await maintainOutbox(query, 24);
      expect((await stored()).map(({ position }) => position)).toEqual([2, 3, 4]);
      expect(await readBounds(query)).toEqual({ oldest: 2, settled: 4, newest: 4, isSettled: true });
    });
  });
});
