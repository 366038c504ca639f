/** Usage in a real database: partitions, the retention, bounds, and what a check reads. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@trestle/chassis/database/database';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { Registry } from 'prom-client';
import { maintainPartitions } from './partitions.ts';
import { readPolicy, readRecordedUsage } from './recorded-usage.ts';
import { createUsageReads } from './usage-reads.ts';
import type { UsageReport } from './usage-report.ts';
import { OTHER, recordUsage } from './usage-writes.ts';

const NOW = Date.parse('2026-03-10T12:34:00Z');
const DAY_MS = 86_400_000;

let test: TestDatabase;
let database: Database;
let environment: string;
beforeAll(async () => {
  test = await createTestDatabase({ subgraph: 'registry', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openDatabase({ url: test.url, metrics: new Registry() });
  await maintain(NOW);
});
afterAll(async () => {
  await database.close();
  await test.drop();
});
afterEach(() => {
  environment = '';
});

const maintain = (now: number) => maintainPartitions({ database, retentionDays: 5, now: () => now });
const listTables = async () => {
  const rows = await database.query<{ name: string }>(
    `SELECT c.relname AS "name" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relname LIKE 'usage%s' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};
const DURATIONS = [1, ...new Array<number>(17).fill(0)];

/** Returns a report of one request of each operation by each client. */
const report = (texts: readonly string[], names: readonly string[], at = NOW): UsageReport => ({
  id: randomUUID(),
  minute: new Date(at),
  operations: texts.map((text) => ({ hash: createHash('sha256').update(text).digest('hex'), name: null, text, uses: [] })),
  clients: names.map((name) => ({ name, version: null })),
  rows: texts.flatMap((_, operation) => names.map((_name, client) => ({ operation, client, count: 1, errors: 0, durations: DURATIONS }))),
});
const createEnvironment = () => (environment = `e-${randomUUID().slice(0, 8)}`);

describe('maintainPartitions', () => {
  it('creates partitions from yesterday to the day after tomorrow, once, and drops those beyond the retention', async () => {
    await Promise.all([maintain(NOW), maintain(NOW), maintain(NOW)]);
    const days = ['20260309', '20260310', '20260311', '20260312'];
    const of = (table: string) => days.map((day) => `${table}_${day}`);
    expect(await listTables()).toEqual(
      ['client_days', 'days', 'hours', 'operation_days', 'reports'].flatMap((table) => of(`usage_${table}`)),
    );
    await recordUsage({ database }, createEnvironment(), report(['{a}'], ['web']));
    for (let day = 1; day <= 6; day++) await maintain(NOW + day * DAY_MS);
    const kept = await listTables();
    expect(kept).toContain('usage_days_20260311');
    expect(kept).not.toContain('usage_days_20260310');
    expect(kept.find((name) => name.startsWith('usage_reports'))).toBe('usage_reports_20260313');
    const [row] = await database.query<{ operations: string; clients: string; days: string }>(
      `SELECT (SELECT count(*) FROM "usage_operations") AS "operations", (SELECT count(*) FROM "usage_clients") AS "clients",
         (SELECT count(*) FROM "usage_days") AS "days"`,
    );
    expect(row).toEqual({ operations: '0', clients: '0', days: '0' });
  });
});

describe('recordUsage', () => {
  const LATER = NOW + 6 * DAY_MS;

  it('counts operations and clients beyond the bounds of an environment as one, and loses no request', async () => {
    createEnvironment();
    const bounds = { operations: 3, clients: 2 };
    const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${String(i)}`);
    const record = (given: UsageReport) => recordUsage({ database, bounds }, environment, given);
    expect((await record(report(many('{a', 5), many('client ', 4), LATER))).missing).toEqual([]);
    await record(report(many('{b', 5), many('other ', 4), LATER));
    await record(report(many('{a', 1), many('client ', 1), LATER));
    const reads = createUsageReads(database.query);
    const window = { environment, from: '2026-03-16' };
    expect(await reads.readTotal(window)).toMatchObject({ requests: 41 });
    const operations = await reads.listOperations(window, { first: 100, after: null, uses: null });
    expect(operations).toHaveLength(4);
    expect(operations[0]).toMatchObject({ hash: OTHER, text: null });
    expect(operations.reduce((sum, { requests }) => sum + requests, 0)).toBe(41);
    const clients = await reads.listClients(window, { first: 100, after: null, operation: null });
    expect(clients).toHaveLength(3);
    expect(clients[0]).toMatchObject({ name: OTHER, requests: 30 });
  });

  it('gives checks the operations of their days with clients, and says when they are not complete', async () => {
    createEnvironment();
    await recordUsage({ database }, environment, report(['{a}'], ['web', 'ios'], LATER - DAY_MS));
    await recordUsage({ database }, environment, report(['{b}'], ['web'], LATER));
    const reads = createUsageReads(database.query);
    const read = (days: number) => readRecordedUsage({ environment, days, now: LATER }, reads);
    expect(await read(1)).toMatchObject({ days: 1, isComplete: true, operations: [{ text: '{b}', clients: [{ name: 'web', count: 1 }] }] });
    const usage = await read(2);
    expect(usage?.operations.map(({ text, clients }) => [text, clients.length])).toEqual(expect.arrayContaining([['{a}', 2], ['{b}', 1]])); // prettier-ignore
    await recordUsage({ database, bounds: { operations: 2, clients: 9 } }, environment, report(['{c}'], ['web'], LATER));
    expect(await read(1)).toMatchObject({ isComplete: false });
    const later = await readRecordedUsage({ environment, days: 30, now: LATER + 20 * DAY_MS }, reads);
    expect(later).toMatchObject({ days: 2, operations: expect.arrayContaining([expect.objectContaining({ text: '{a}' })]) });
    expect(await readRecordedUsage({ environment: 'none', days: 1, now: LATER }, reads)).toBeUndefined();
  });
});

describe('readPolicy', () => {
  const defaults = { days: 30, enoughDays: 7, enoughRequests: 100, maxCost: 500, assumedListSize: 20 };

  it('takes what a request says, and the defaults for the rest', () => {
    expect(readPolicy({ minimumCount: 5, days: null, additions: 'FAIL' as never }, defaults)).toMatchObject({
      ...{ minimumCount: 5, days: 30, additions: 'fail', enoughDays: 7, inputs: 'usage', maxCost: 500, assumedListSize: 20 },
    });
  });

  it('takes all days of a shorter window as enough', () => {
    expect(readPolicy({ days: 3 }, defaults)).toMatchObject({ days: 3, enoughDays: 3 });
  });

  it.each([
    { days: 0 },
    { days: 401 },
    { minimumCount: 0 },
    { minimumPercent: 101 },
    { minimumPercent: NaN },
    { enoughDays: -1 },
    { maxCost: -1 },
    { assumedListSize: -1 },
    { assumedListSize: 1_000_001 },
  ])('refuses %p', (policy) => {
    expect(() => readPolicy(policy, defaults)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});

describe('maintainPartitions of a process whose clock is a year ahead', () => {
  it('drops nothing that is not older than the retention by the clock of the database', async () => {
    const now = Date.now();
    await maintain(now);
    const mine = createEnvironment();
    await recordUsage({ database }, mine, report(['{a}'], ['web'], now));
    await maintain(now + 365 * DAY_MS);
    const rows = await database.query('SELECT FROM "usage_days" WHERE "environment" = $1', [mine]);
    const operations = await database.query('SELECT FROM "usage_operations" WHERE "environment" = $1', [mine]);
    expect([rows.length, operations.length]).toEqual([1, 1]);
  });
});
