/** The errors for clients when a real PostgreSQL refuses, stalls or ends, and how the pool recovers (spec §7.3: 503, 504). */
import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type DatabaseLimits, openDatabase } from '@trestle/chassis/database/database';
import { isSerializationFailure, toDatabaseFault } from '@trestle/chassis/database/database-faults';
import { runWithDeadline } from '@trestle/chassis/database/deadline';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { Registry } from 'prom-client';
import { openPrisma } from './stores.ts';

let testDatabase: TestDatabase;
let outside: pg.Client;
/** Queries `pg_stat_activity` outside of any transaction: within one its rows do not change. */
let watcher: pg.Client;
let productId: number;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'orders', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  outside = new pg.Client({ connectionString: testDatabase.url });
  watcher = new pg.Client({ connectionString: testDatabase.url });
  await Promise.all([outside.connect(), watcher.connect()]);
  const made = await outside.query<{ id: number }>(
    `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', '', 'ropes', 1, 'EUR', 1), ('Hook', '', 'hooks', 1, 'EUR', 1) RETURNING id`,
  );
  productId = made.rows[0]?.id ?? 0;
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await Promise.all([outside.end(), watcher.end()]);
  await testDatabase.drop();
});

function open(limits: Partial<DatabaseLimits> = {}, url = testDatabase.url) {
  const database = openDatabase({ url, metrics: new Registry(), connectTimeoutMs: 5000, lockTimeoutMs: 300, ...limits });
  const prisma = openPrisma(database);
  closing.push(async () => {
    await prisma.$disconnect();
    await database.close();
  });
  return { prisma, database };
}
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => toDatabaseFault(error)?.code ?? error,
  );
const rename = ({ prisma }: ReturnType<typeof open>, name: string, id = productId) =>
  prisma.product.update({ where: { id }, data: { name } });
const nameOf = async (id = productId) =>
  (await outside.query<{ name: string }>('SELECT name FROM products WHERE id = $1', [id])).rows[0]?.name;
const at = (change: object) => Object.assign(new URL(testDatabase.url), change).href;

describe('a database that is not available', () => {
  it('is SERVICE_UNAVAILABLE when nothing listens there, for statements and for transactions', async () => {
    const { prisma } = open({}, at({ port: '1' }));
    expect(await faultOf(prisma.product.findMany())).toBe('SERVICE_UNAVAILABLE');
    expect(await faultOf(prisma.$queryRaw`SELECT 1`)).toBe('SERVICE_UNAVAILABLE');
    expect(await faultOf(prisma.$transaction((transaction) => transaction.product.count()))).toBe('SERVICE_UNAVAILABLE');
  });

  it('is SERVICE_UNAVAILABLE and not reachable when it accepts connections and does not respond', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, 'close');
    });
    const { port } = silent.address() as { port: number };
    const { prisma, database } = open({ connectTimeoutMs: 300 }, at({ port: String(port) }));
    expect(await faultOf(prisma.product.count())).toBe('SERVICE_UNAVAILABLE');
    await expect(database.isReachable()).rejects.toThrow();
  });

  it('is SERVICE_UNAVAILABLE when it refuses more connections (53300)', async () => {
    await outside.query(`CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0`);
    closing.push(() => outside.query('DROP ROLE crowded').then(() => undefined));
    const { prisma } = open({}, at({ username: 'crowded', password: 'crowded' }));
    expect(await faultOf(prisma.product.count())).toBe('SERVICE_UNAVAILABLE');
  });

  it('is SERVICE_UNAVAILABLE while all connections of the pool are in use, though still reachable', async () => {
    const { prisma, database } = open({ connections: 1, connectTimeoutMs: 300 });
    const busy = prisma.$queryRaw`SELECT pg_sleep(1)::text`;
    await Promise.resolve();
    expect(await faultOf(Promise.all([busy, prisma.product.count()]))).toBe('SERVICE_UNAVAILABLE');
    expect(await faultOf(Promise.all([prisma.$queryRaw`SELECT pg_sleep(1)::text`, prisma.$transaction([prisma.product.count()])]))).toBe(
      'SERVICE_UNAVAILABLE',
    );
    expect(await database.isReachable()).toBe(true);
  });

  it('is SERVICE_UNAVAILABLE for a statement whose connection is terminated (57P01), and serves the next one', async () => {
    const opened = open({ lockTimeoutMs: 5000 });
    await outside.query('BEGIN');
    await outside.query('UPDATE products SET stock = 2 WHERE id = $1', [productId]);
    const killed = faultOf(rename(opened, 'Killed'));
    const find = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await watcher.query(find)).rowCount === 0);
    expect(await killed).toBe('SERVICE_UNAVAILABLE');
    await outside.query('ROLLBACK');
    expect(await nameOf()).toBe('Rope');
    expect(await faultOf(rename(opened, 'Rope'))).toBe('done');
  });
});

describe('a statement that takes too long', () => {
  it('is SERVICE_UNAVAILABLE when a row stays locked (55P03), changes nothing, and does not block other rows', async () => {
    const opened = open();
    await outside.query('BEGIN');
    await outside.query('UPDATE products SET stock = 2 WHERE id = $1', [productId]);
    const [locked, other] = await Promise.all([faultOf(rename(opened, 'Late')), faultOf(rename(opened, 'Hook', productId + 1))]);
    expect([locked, other]).toEqual(['SERVICE_UNAVAILABLE', 'done']);
    await outside.query('ROLLBACK');
    expect(await nameOf()).toBe('Rope');
  });

  it('is UPSTREAM_TIMEOUT when PostgreSQL cancels it (57014)', async () => {
    const { prisma } = open({ statementTimeoutMs: 200 });
    expect(await faultOf(prisma.$queryRaw`SELECT pg_sleep(20)::text`)).toBe('UPSTREAM_TIMEOUT');
    expect(await faultOf(prisma.$transaction([prisma.$queryRaw`SELECT pg_sleep(20)::text`]))).toBe('UPSTREAM_TIMEOUT');
  });

  it('is not sent after the start limit of its mutation, and not committed after its deadline', async () => {
    const opened = open();
    const { prisma } = opened;
    const pause = () => prisma.$queryRaw`SELECT pg_sleep(0.3)::text`;
    const late = runWithDeadline({ startMs: 100, commitMs: 60_000 }, async () => {
      await pause();
      await rename(opened, 'Late');
    });
    expect(await faultOf(late)).toBe('SERVICE_UNAVAILABLE');
    const uncommitted = runWithDeadline({ startMs: 60_000, commitMs: 100 }, () =>
      prisma.$transaction(async (transaction) => {
        await transaction.product.update({ where: { id: productId }, data: { name: 'Late' } });
        await transaction.$queryRaw`SELECT pg_sleep(0.3)::text`;
      }),
    );
    expect(await faultOf(uncommitted)).toBe('UPSTREAM_TIMEOUT');
    expect(await nameOf()).toBe('Rope');
    expect(await faultOf(rename(opened, 'Rope'))).toBe('done');
  });

  it('is not committed after the deadline of its mutation when it is a single write', async () => {
    const opened = open({ lockTimeoutMs: 5000 });
    await outside.query('BEGIN');
    await outside.query('UPDATE products SET stock = 2 WHERE id = $1', [productId]);
    const waiting = faultOf(runWithDeadline({ startMs: 60_000, commitMs: 300 }, async () => await rename(opened, 'Late')));
    await watcher.query('SELECT pg_sleep(0.4)');
    await outside.query('ROLLBACK');
    expect(await waiting).toBe('UPSTREAM_TIMEOUT');
    expect(await nameOf()).toBe('Rope');
    expect(await faultOf(runWithDeadline({ startMs: 60_000, commitMs: 60_000 }, async () => await rename(opened, 'Rope')))).toBe('done');
  });
});

/** A promise that is resolved from outside. */
function signal() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return {
    promise,
    resolve: () => {
      resolve();
    },
  };
}

describe('a serialization failure', () => {
  it('is distinguished from other errors, so that the mutation can be retried (40P01)', async () => {
    const { prisma } = open({ lockTimeoutMs: 5000 });
    const both = (first: number, second: number, reached: () => void, other: Promise<void>) =>
      prisma.$transaction(async (transaction) => {
        await transaction.product.update({ where: { id: first }, data: { stock: 3 } });
        reached();
        await other;
        await transaction.product.update({ where: { id: second }, data: { stock: 3 } });
      });
    const [one, two] = [signal(), signal()];
    const outcomes = await Promise.allSettled([
      both(productId, productId + 1, one.resolve, two.promise),
      both(productId + 1, productId, two.resolve, one.promise),
    ]);
    const failed = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(failed.map((error) => [isSerializationFailure(error), toDatabaseFault(error)?.code])).toEqual([[true, 'SERVICE_UNAVAILABLE']]);
    expect(isSerializationFailure(new Error('another error'))).toBe(false);
    expect(toDatabaseFault(new TypeError('x is not a function'))).toBeUndefined();
  });
});
