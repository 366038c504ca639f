/** Counting requests by operation and client, within bounds. */
import { describe, expect, it } from '@jest/globals';
import type { OperationUsage } from '../../request/operation-usage.ts';
import { DURATION_CLASSES, OTHER, UsageLog, toDurationClass } from './usage-log.ts';
import { writeReports } from './usage-reports.ts';

const operation = (text: string): OperationUsage => ({ hash: text.slice(0, 8), name: undefined, text, kind: 'query', uses: ['Query.a'] });
const [A, B] = [operation('{a}'), operation('{b}')];
const fast = { ms: 0.1, isError: false };
const web = (version?: string) => ({ name: 'web', version });

describe('UsageLog', () => {
  it('counts requests, errors and durations of each operation by each version of a client', () => {
    const log = new UsageLog(1e6, () => undefined);
    log.add(A, web('1'), fast);
    log.add(A, web('1'), { ms: 3, isError: true });
    log.add(A, web('2'), fast);
    log.add(B, { name: undefined, version: undefined }, fast);
    const rows = log.take().map(({ operation: { hash }, client, version, count, errors, durations }) => {
      return { hash, client, version, count, errors, durations: durations.flatMap((each, i) => (each > 0 ? [[i, each]] : [])) };
    });
    expect(rows).toEqual([
      { hash: '{a}', client: 'web', version: '1', count: 2, errors: 1, durations: [[0, 1], [4, 1]] }, // prettier-ignore
      { hash: '{a}', client: 'web', version: '2', count: 1, errors: 0, durations: [[0, 1]] },
      { hash: '{b}', client: null, version: null, count: 1, errors: 0, durations: [[0, 1]] },
    ]);
    expect(log.take()).toEqual([]);
    expect(log.bytes).toBe(0);
  });

  it('records a request once, and only when its operation is known', () => {
    const log = new UsageLog(1e6, () => undefined);
    log.begin(web()).end(true);
    const usage = log.begin(web());
    usage.operation = A;
    usage.end(false);
    usage.end(true);
    expect(log.take()).toMatchObject([{ operation: A, count: 1, errors: 0 }]);
  });

  it('counts clients and versions beyond the bounds as one, cuts long names, and keeps no control character', () => {
    const tabs = new UsageLog(1e6, () => undefined);
    tabs.add(A, { name: 'a\tb', version: undefined }, fast);
    tabs.add(A, { name: 'a\tb', version: undefined }, fast);
    expect(tabs.take()).toMatchObject([{ client: 'a b', count: 2 }]);
    const log = new UsageLog(1e9, () => undefined);
    for (let i = 0; i < 1100; i++) log.add(A, { name: `client ${String(i)}`, version: undefined }, fast);
    for (let i = 0; i < 150; i++) log.add(A, { name: 'client 1', version: String(i) }, fast);
    log.add(A, { name: 'x'.repeat(10_000), version: 'y'.repeat(10_000) }, fast);
    const rows = log.take();
    expect(new Set(rows.map(({ client }) => client)).size).toBe(1001);
    expect(rows.find(({ client, version }) => client === OTHER && version === null)).toMatchObject({ count: 100 });
    expect(rows.find(({ client, version }) => client === 'client 1' && version === OTHER)).toMatchObject({ count: 51 });
    expect(Math.max(...rows.map(({ client, version }) => (client?.length ?? 0) + (version?.length ?? 0)))).toBeLessThanOrEqual(200);
  });

  it('drops and reports what would take more memory than allowed, and goes on to count what it has', () => {
    let dropped = 0;
    const log = new UsageLog(10_000, () => dropped++);
    log.add(A, web(), fast);
    for (let i = 0; i < 1000; i++) log.add(operation(`{a${String(i)}}`), { name: `c${String(i)}`, version: undefined }, fast);
    log.add(A, web(), fast);
    const rows = log.take();
    const counted = rows.reduce((sum, { count }) => sum + count, 0);
    expect(counted + dropped).toBe(1002);
    expect(rows.length).toBeLessThan(25);
    expect(rows.find((row) => row.operation === A)).toMatchObject({ count: 2 });
  });

  it('puts each duration into the class below whose end it lies', () => {
    expect([0, 0.24, 0.25, 0.5, 1, 1.9, 2, 8192, 16_383].map(toDurationClass)).toEqual([0, 0, 1, 2, 3, 3, 4, 16, 16]);
    expect([16_384, 1e9, Infinity].map(toDurationClass)).toEqual([17, 17, 17]);
    expect(DURATION_CLASSES).toBe(18);
  });
});

describe('writeReports', () => {
  it('splits rows into reports of bounded size, each text once, and keeps every request', () => {
    const log = new UsageLog(1e9, () => undefined);
    const operations = Array.from({ length: 300 }, (_, i) => operation(`{a${String(i)}(${'x'.repeat(10_000)})}`));
    for (const each of operations) for (const version of ['1', '2', '3']) log.add(each, web(version), fast);
    let id = 0;
    const options = { startedAt: Date.parse('2026-01-31T12:00:59Z'), isKnown: (hash: string) => hash === operations[0]?.hash };
    const reports = [...writeReports(log.take(), { ...options, createId: () => String(++id) })];
    expect(reports.length).toBeGreaterThan(2);
    expect(reports.reduce((sum, { requests }) => sum + requests, 0)).toBe(900);
    expect(Math.max(...reports.map(({ bytes }) => bytes))).toBeLessThan(2 * 1024 * 1024);
    const texts = reports.flatMap((report) => report.texts);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toHaveLength(299);
    expect(JSON.parse(reports[0]?.body ?? '')).toMatchObject({ id: '1', minute: '2026-01-31T12:00:00.000Z' });
  });

  it('adds up operations with the same text, which several plans may have', () => {
    const log = new UsageLog(1e6, () => undefined);
    log.add(A, web(), fast);
    log.add({ ...A }, web(), fast);
    const [report] = writeReports(log.take(), { startedAt: 0, isKnown: () => false, createId: () => 'x' });
    expect(JSON.parse(report?.body ?? '')).toMatchObject({ operations: [{ hash: '{a}', text: '{a}' }], rows: [{ count: 2 }] });
  });
});
