import { describe, expect, it } from '@jest/globals';
import { withClient } from './client.ts';
import { createTestDatabase } from './test-database.ts';

const adminUrl = process.env['TEST_PG_URL'] ?? '';

const query = (url: string, sql: string) => withClient(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);

describe('createTestDatabase', () => {
  it('creates a migrated database that shares no data with others and does not exist after it is dropped', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => createTestDatabase({ subgraph: 'users', adminUrl })));
    if (!one || !two) throw new Error('The databases were not created');
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
