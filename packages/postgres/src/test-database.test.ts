import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from './test-database.ts';

const adminUrl = process.env['TEST_PG_URL'] ?? '';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('a test database', () => {
  it('is migrated, apart from every other, and gone when it is dropped', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => createTestDatabase({ subgraph: 'users', adminUrl })));
    if (!one || !two) throw new Error('no databases');
    try {
      await query(one.url, `INSERT INTO tombstones (id) VALUES ('usr_1')`);
      expect(await query(one.url, 'SELECT id FROM tombstones')).toEqual([{ id: 'usr_1' }]);
      expect(await query(two.url, 'SELECT id FROM tombstones')).toEqual([]);
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
    await expect(query(one.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});
