/** Reports for the registry, and the classes of durations in them. */
import { describe, expect, it } from '@jest/globals';
import type { OperationUsage } from '../../request/operation-usage.ts';
import { UsageLog } from '../usage-log.ts';
import { DURATION_CLASSES, RequestCounts, toDurationClass } from './request-counts.ts';
import { writeReports } from './usage-reports.ts';

const operation = (text: string): OperationUsage => ({ hash: text.slice(0, 8), name: undefined, text, kind: 'query', uses: ['Query.a'] });
const A = operation('{a}');
const fast = { ms: 0.1, isError: false, isCached: false, errors: [], persisted: undefined };
const web = (version?: string) => ({ name: 'web', version });
const create = (maxBytes: number) => new UsageLog({ maxBytes, onDrop: () => undefined, createCounts: () => new RequestCounts() });

describe('toDurationClass', () => {
  it('puts each duration into the class below whose end it lies', () => {
    expect([0, 0.24, 0.25, 0.5, 1, 1.9, 2, 8192, 16_383].map(toDurationClass)).toEqual([0, 0, 1, 2, 3, 3, 4, 16, 16]);
    expect([16_384, 1e9, Infinity].map(toDurationClass)).toEqual([17, 17, 17]);
    expect(DURATION_CLASSES).toBe(18);
  });
});

describe('writeReports', () => {
  it('splits rows into reports of bounded size, each text once, and keeps every request', () => {
    const log = create(1e9);
    const operations = Array.from({ length: 300 }, (_, i) => operation(`{a${String(i)}(${'x'.repeat(10_000)})}`));
    for (const each of operations) for (const version of ['1', '2', '3']) log.add(each, web(version), fast);
    let id = 0;
    const options = { startedAt: Date.parse('2026-01-31T12:00:59Z'), isKnown: (hash: string) => hash === operations[0]?.hash };
    const reports = [...writeReports(log.take(), { ...options, createId: () => String(++id) })];
    expect(reports.length).toBeGreaterThan(2);
    expect(reports.reduce((sum, { requests }) => sum + requests, 0)).toBe(900);
    expect(Math.max(...reports.map(({ body }) => body.length))).toBeLessThan(2 * 1024 * 1024);
    const texts = reports.flatMap((report) => report.texts);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toHaveLength(299);
    expect(JSON.parse(String(reports[0]?.body))).toMatchObject({ id: '1', minute: '2026-01-31T12:00:00.000Z' });
  });

  it('adds up operations with the same text, which several plans may have', () => {
    const log = create(1e6);
    log.add(A, web(), fast);
    log.add({ ...A }, web(), fast);
    const [report] = writeReports(log.take(), { startedAt: 0, isKnown: () => false, createId: () => 'x' });
    expect(JSON.parse(String(report?.body))).toMatchObject({ operations: [{ hash: '{a}', text: '{a}' }], rows: [{ count: 2 }] });
  });

  it('names an operation without text by its hash and its name alone', () => {
    const log = create(1e6);
    log.add({ ...A, name: 'Long', text: '' }, web(), fast);
    const [report] = writeReports(log.take(), { startedAt: 0, isKnown: () => false, createId: () => 'x' });
    expect(JSON.parse(String(report?.body))).toMatchObject({ operations: [{ hash: A.hash, name: 'Long' }], rows: [{ count: 1 }] });
    expect(String(report?.body)).not.toContain('text');
    expect(report?.texts).toEqual([]);
  });
});
