/** The stores of this subgraph on a database of one test file, and connections beside them for what happens at the same time. */
import { setImmediate } from 'node:timers/promises';
import type { Query } from '@trestle/chassis/database/query';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import type { Idempotency } from '@trestle/chassis/stores/idempotency';
import { createIds } from '@trestle/chassis/values/ids';
import { withClient } from '@trestle/postgres/client';
import { createTestDatabase } from '@trestle/postgres/test-database';
import type { SessionClient } from './session/store.ts';
import { type Transact, type UsersStores, openUsersStores } from './stores.ts';
import type { User } from './user/rules.ts';

/** The client of the requests of a test. */
export const TEST_CLIENT: SessionClient = { device: 'test', address: null, network: null };

/** The stores, and what a test needs beside them. */
export interface TestStores {
  readonly stores: UsersStores;
  readonly transact: Transact;
  readonly once: Idempotency<UsersStores>['once'];
  readonly query: Query;
  /** Creates an account with the password hash `hash`. */
  readonly createUser: () => Promise<User>;
  /** Runs one statement on a connection of its own. */
  readonly run: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
  /**
   * Runs `text` in a transaction on a connection of its own, begins `work`, and commits when `work` has ended or waits for a lock. Resolves
   * with what `work` resolves with.
   */
  readonly duringTransaction: <T>(text: string, values: readonly unknown[], work: () => Promise<T>) => Promise<T>;
  /** Runs `first` in a transaction, begins `second`, and commits when `second` has ended or waits for a lock. Resolves with both results. */
  readonly besideTransaction: <First, Second>(
    first: (stores: UsersStores) => Promise<First>,
    second: () => Promise<Second>,
  ) => Promise<[First, PromiseSettledResult<Second>]>;
  readonly close: () => Promise<void>;
}

/** Creates the database on the server of `adminUrl`, and opens the stores. */
export async function openTestStores(adminUrl: string): Promise<TestStores> {
  const testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl });
  const { url } = testDatabase;
  const database = openTestDatabase({ url });
  const opened = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: () => new Date() });
  const { stores, once } = opened.idempotency;
  const run = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    withClient(url, async (client) => (await client.query(text, [...values])).rows as Row[]);
  /** Work that ends without waiting fails the assertion of the test, not by a timeout. */
  const untilEndedOrWaiting = async (work: Promise<unknown>): Promise<void> => {
    const waiting = `SELECT FROM pg_stat_activity WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`;
    const hasEnded = () => Promise.race([work.then(toTrue, toTrue), setImmediate(false)]);
    while (!(await hasEnded()) && (await run(waiting)).length === 0);
  };
  let count = 0;
  return {
    stores,
    transact: opened.transact,
    once,
    query: database.query,
    createUser: () => stores.users.create({ email: `${String(++count)}@example.org`, name: 'Ada', password: '' }, 'hash'),
    run,
    duringTransaction: (text, values, work) =>
      withClient(url, async (client) => {
        await client.query('BEGIN');
        await client.query(text, [...values]);
        const result = work();
        await untilEndedOrWaiting(result);
        await client.query('COMMIT');
        return result;
      }),
    async besideTransaction(first, second) {
      const [result, begun] = await opened.transact(async (inTransaction) => {
        const written = await first(inTransaction);
        const work = second();
        await untilEndedOrWaiting(work);
        // In an array: the transaction must not wait for it.
        return [written, [work]] as const;
      });
      const [settled] = await Promise.allSettled(begun);
      return [result, settled];
    },
    close: async () => {
      await opened.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

function toTrue(): boolean {
  return true;
}
