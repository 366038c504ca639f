/** Against a real PostgreSQL. */
// cspell:ignore regnamespace regprocedure proname pronamespace
import { expect, it } from '@jest/globals';
import { withClient } from '@trestle/postgres/client';
import { createTestDatabase } from '@trestle/postgres/test-database';

async function readFunctions(subgraph: string): Promise<Map<string, string>> {
  const database = await createTestDatabase({ subgraph, adminUrl: process.env['TEST_PG_URL'] ?? '' });
  try {
    const { rows } = await withClient(database.url, (client) =>
      client.query<{ signature: string; definition: string }>(
        `SELECT "oid"::regprocedure::text AS "signature", pg_get_functiondef("oid") AS "definition" FROM pg_proc
         WHERE "pronamespace" = 'public'::regnamespace AND "proname" LIKE 'search\\_%'`,
      ),
    );
    return new Map(rows.map(({ signature, definition }) => [signature, definition]));
  } finally {
    await database.drop();
  }
}

it('the functions of searches are the same in content and orders', async () => {
  const content = await readFunctions('content');
  const orders = await readFunctions('orders');
  expect(orders.size).toBeGreaterThan(10);
  for (const [signature, definition] of orders) expect([signature, content.get(signature)]).toEqual([signature, definition]);
});
