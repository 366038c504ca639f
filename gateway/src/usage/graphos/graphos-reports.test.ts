/** Reports for GraphOS, and the counts in them. */
import { describe, expect, it } from '@jest/globals';
import { Report } from '@apollo/usage-reporting-protobuf';
import type { OperationUsage } from '../../request/operation-usage.ts';
import type { UsageReport } from '../usage-destination.ts';
import { UsageLog } from '../usage-log.ts';
import { ErrorTree } from './error-tree.ts';
import { writeGraphosReports } from './graphos-reports.ts';
import { LatencyHistogram, toLatencyClass } from './latency-histogram.ts';
import { RequestStats } from './request-stats.ts';

const operation = (text: string, id = 'schema'): OperationUsage => {
  return { hash: text, name: 'A', text, kind: 'query', uses: ['Query.a', 'Node.id'], schema: { id, interfaces: ['Node'] } };
};
const fast = { ms: 0.1, isError: false, isCached: false, errors: [], persisted: undefined };
const web = { name: 'web', version: '1' };
const create = (maxBytes = 1e9, onDrop: () => void = () => undefined) =>
  new UsageLog({ maxBytes, onDrop, createCounts: () => new RequestStats() });
const write = (log: UsageLog<RequestStats>) => [...writeGraphosReports(log.take(), { graphRef: 'g@v' }, { createId: () => 'id' })];
const decode = ({ body }: UsageReport) => Report.decode(body);
const failed = (path: readonly (string | number)[], service: unknown = 'shop') => ({ path, extensions: { service } });

describe('LatencyHistogram', () => {
  it('puts a duration into the class whose end, a power of 1.1 in microseconds, is not below it', () => {
    expect([0, 0.0005, 0.001, 0.0011, 0.00111].map(toLatencyClass)).toEqual([0, 0, 0, 1, 2]);
    for (const ms of [0.0123, 0.7, 1, 15, 400, 60_000]) {
      const at = toLatencyClass(ms);
      expect(ms * 1000).toBeLessThanOrEqual(1.1 ** at * 1.000001);
      expect(ms * 1000).toBeGreaterThan(1.1 ** (at - 1) * 0.999999);
    }
    expect([Infinity, 1e15].map(toLatencyClass)).toEqual([383, 383]);
  });

  it('writes classes without a duration as one number', () => {
    const histogram = new LatencyHistogram();
    for (const ms of [0, 0.00111, 0.00111, 0.0012, 0.01]) histogram.add(ms, false);
    expect(histogram.toArray()).toEqual([1, 0, 3, -22, 1]);
    expect(new LatencyHistogram().toArray()).toEqual([]);
  });
});

describe('ErrorTree', () => {
  it('counts errors by subgraph and path without indexes, and requests once for each place', () => {
    const tree = new ErrorTree();
    tree.add([failed(['users', 0, 'name']), failed(['users', 1, 'name']), failed(['id'], 7)], false);
    tree.add([failed(['users', 0, 'name'])], false);
    tree.add([], false);
    const name = { errorsCount: 3, requestsWithErrorsCount: 2, children: {} };
    const users = { errorsCount: 0, requestsWithErrorsCount: 0, children: { name } };
    expect(tree.toStats()).toEqual({
      ...{ errorsCount: 2, requestsWithErrorsCount: 2 },
      children: { 'service:shop': { errorsCount: 0, requestsWithErrorsCount: 0, children: { users } } },
    });
  });

  it('has at most 200 paths, and counts errors at further ones above them', () => {
    const tree = new ErrorTree();
    let bytes = 0;
    for (let i = 0; i < 1000; i++) bytes += tree.add([failed([`alias${String(i)}`])], false);
    bytes += tree.add([failed(['x'.repeat(1_000_000)]), failed(['__proto__', 'constructor'])], false);
    const { children = {} } = tree.toStats().children?.['service:shop'] ?? {};
    expect(Object.keys(children ?? {})).toHaveLength(199);
    expect(tree.toStats().children?.['service:shop']?.errorsCount).toBe(1002 - 199);
    expect(bytes).toBeLessThan(50_000);
  });
});

describe('writeGraphosReports', () => {
  it('splits rows into reports of bounded size, and keeps every request', () => {
    const log = create();
    for (let i = 0; i < 1200; i++) log.add(operation(`query A{a${String(i)}}`), web, fast);
    for (let i = 0; i < 30; i++) log.add(operation(`query A{b${'x'.repeat(100_000 + i)}}`), web, fast);
    const reports = write(log);
    expect(reports.reduce((sum, { requests }) => sum + requests, 0)).toBe(1230);
    expect(reports.map(decode).reduce((sum, { operationCount }) => sum + operationCount, 0)).toBe(1230);
    expect(Math.max(...reports.map(({ body }) => body.length))).toBeLessThan(1.3 * 1024 * 1024);
    expect(reports.length).toBeGreaterThan(4);
  });

  it('writes one report for each schema', () => {
    const log = create();
    log.add(operation('query A{a}'), web, fast);
    log.add(operation('query A{a}', 'next'), web, fast);
    expect(write(log).map((report) => decode(report).header?.executableSchemaId)).toEqual(['schema', 'next']);
  });

  it('adds up operations with the same signature, which several plans may have', () => {
    const log = create();
    log.add(operation('query A{a}'), web, { ...fast, isError: true, errors: [failed(['a'])] });
    log.add(operation('query A{a}'), web, { ...fast, isError: true, errors: [failed(['a'])], persisted: 'hit' });
    const [report] = write(log).map(decode);
    expect(JSON.parse(JSON.stringify(report?.tracesPerQuery))).toMatchObject({
      '# A\nquery A{a}': {
        statsWithContext: [
          {
            context: { clientName: 'web', clientVersion: '1' },
            queryLatencyStats: {
              ...{ requestCount: '2', requestsWithErrorsCount: '2', persistedQueryHits: '1' },
              rootErrorStats: { children: { 'service:shop': { children: { a: { errorsCount: '2' } } } } },
            },
          },
        ],
        referencedFieldsByType: { Node: { fieldNames: ['id'], isInterface: true }, Query: { fieldNames: ['a'] } },
      },
    });
  });
});

describe('the log of requests for GraphOS', () => {
  it('is bounded in bytes, whatever durations and paths of errors there are', () => {
    let dropped = 0;
    const log = create(100_000, () => dropped++);
    const operations = Array.from({ length: 19 }, (_, i) => operation(`query A{a${String(i)}}`));
    const errorsOf = (i: number) => Array.from({ length: 20 }, (_, at) => failed([`alias${String(i * 20 + at)}`]));
    for (let i = 0; i < 2000; i++) {
      const end = { ...fast, ms: 1.1 ** (i % 100), isError: i >= 100, errors: i >= 100 ? errorsOf(i) : [] };
      log.add(operations[i % 19] as OperationUsage, web, end);
    }
    expect(log.bytes).toBeLessThan(105_000);
    expect(dropped).toBeGreaterThan(0);
    expect(write(log).reduce((sum, { requests }) => sum + requests, dropped)).toBe(2000);
  });
});
