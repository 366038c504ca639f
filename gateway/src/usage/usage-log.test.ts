/** Counting requests by operation and client, within bounds. */
import { describe, expect, it } from '@jest/globals';
import type { OperationUsage } from '../request/operation-usage.ts';
import { RequestCounts } from './registry/request-counts.ts';
import { OTHER, UsageLog } from './usage-log.ts';

const operation = (text: string): OperationUsage => ({ hash: text.slice(0, 8), name: undefined, text, kind: 'query', uses: ['Query.a'] });
const [A, B] = [operation('{a}'), operation('{b}')];
const fast = { ms: 0.1, isError: false, isCached: false, errors: [], persisted: undefined };
const web = (version?: string) => ({ name: 'web', version });

const create = (maxBytes: number, onDrop: () => void = () => undefined) =>
  new UsageLog({ maxBytes, onDrop, createCounts: () => new RequestCounts() });
const begin = (log: UsageLog<RequestCounts>) => log.begin({ client: web(), parameters: { query: '{a}', extensions: {} } });

describe('UsageLog', () => {
  it('counts requests, errors and durations of each operation by each version of a client', () => {
    const log = create(1e6);
    log.add(A, web('1'), fast);
    log.add(A, web('1'), { ...fast, ms: 3, isError: true });
    log.add(A, web('2'), fast);
    log.add(B, { name: undefined, version: undefined }, fast);
    const rows = log.take().map(({ operation: { hash }, client, version, counts: { count, errors, durations } }) => {
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
    const log = create(1e6);
    begin(log).end({ isError: true, isCached: false });
    const usage = begin(log);
    usage.operation = A;
    usage.end({ isError: false, isCached: false });
    usage.end({ isError: true, isCached: false });
    expect(log.take()).toMatchObject([{ operation: A, counts: { count: 1, errors: 0 } }]);
  });

  it('counts clients and versions beyond the bounds as one, cuts long names, and keeps no control character', () => {
    const tabs = create(1e6);
    tabs.add(A, { name: 'a\tb', version: undefined }, fast);
    tabs.add(A, { name: 'a\tb', version: undefined }, fast);
    expect(tabs.take()).toMatchObject([{ client: 'a b', counts: { count: 2 } }]);
    const log = create(1e9);
    for (let i = 0; i < 1100; i++) log.add(A, { name: `client ${String(i)}`, version: undefined }, fast);
    for (let i = 0; i < 150; i++) log.add(A, { name: 'client 1', version: String(i) }, fast);
    log.add(A, { name: 'x'.repeat(10_000), version: 'y'.repeat(10_000) }, fast);
    const rows = log.take();
    expect(new Set(rows.map(({ client }) => client)).size).toBe(1001);
    expect(rows.find(({ client, version }) => client === OTHER && version === null)).toMatchObject({ counts: { count: 100 } });
    expect(rows.find(({ client, version }) => client === 'client 1' && version === OTHER)).toMatchObject({ counts: { count: 51 } });
    expect(Math.max(...rows.map(({ client, version }) => (client?.length ?? 0) + (version?.length ?? 0)))).toBeLessThanOrEqual(200);
  });

  it('drops and reports what would take more memory than allowed, and goes on to count what it has', () => {
    let dropped = 0;
    const log = create(10_000, () => dropped++);
    log.add(A, web(), fast);
    for (let i = 0; i < 1000; i++) log.add(operation(`{a${String(i)}}`), { name: `c${String(i)}`, version: undefined }, fast);
    log.add(A, web(), fast);
    const rows = log.take();
    const counted = rows.reduce((sum, { counts }) => sum + counts.count, 0);
    expect(counted + dropped).toBe(1002);
    expect(rows.length).toBeLessThan(25);
    expect(rows.find((row) => row.operation === A)).toMatchObject({ counts: { count: 2 } });
  });
});
