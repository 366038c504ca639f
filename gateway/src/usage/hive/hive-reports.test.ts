/** Requests that are kept for Hive, and their reports, within bounds. */
import { describe, expect, it } from '@jest/globals';
import type { OperationUsage } from '../../request/operation-usage.ts';
import { writeHiveReports } from './hive-reports.ts';
import { RequestLog, type RequestLogOptions } from './request-log.ts';

const operation = (text: string, uses = ['Query.a']): OperationUsage => ({ hash: text, name: undefined, kind: 'query', text, uses });
const A = operation('{a}');
const fast = { ms: 0.1, isError: false, isCached: false, errors: [], persisted: undefined };
const nobody = { name: undefined, version: undefined };
const ignore = () => undefined;
const create = (options: Partial<RequestLogOptions> = {}) =>
  new RequestLog({ maxBytes: 1e9, onDrop: ignore, onFull: ignore, sampleRate: 1, ...options });
const write = (log: RequestLog) =>
  [...writeHiveReports(log.take(), () => 'id')].map(({ body }) => JSON.parse(body.toString()) as { size: number });

describe('writeHiveReports', () => {
  it('writes at most 1,000 requests into a report, and about 1 MiB of texts', () => {
    const log = create();
    for (let i = 0; i < 2500; i++) log.add(A, nobody, fast);
    expect(write(log).map(({ size }) => size)).toEqual([1000, 1000, 500]);
    for (let i = 0; i < 10; i++) log.add(operation(`{a${String(i)}}`, ['a'.repeat(400_000)]), nobody, fast);
    expect(write(log).map(({ size }) => size)).toEqual([3, 3, 3, 1]);
  });

  it('writes clients with both a name and a version, without which Hive refuses a report', () => {
    const log = create();
    log.add(A, { name: 'web', version: undefined }, fast);
    log.add(A, { name: undefined, version: '1' }, fast);
    log.add(A, nobody, fast);
    const [{ operations }] = write(log) as unknown as [{ operations: { metadata?: object }[] }];
    expect(operations.map(({ metadata }) => metadata)).toEqual([
      { client: { name: 'web', version: '' } },
      { client: { name: '', version: '1' } },
      undefined,
    ]);
  });

  it('writes ids of documents of app deployments in place of clients, and no others', () => {
    const log = create();
    const ids = ['web~1.0~abc', 'web~1.0~a-b', `${'a'.repeat(65)}~1.0~abc`, 'abc', undefined];
    for (const documentId of ids) log.add(A, { name: 'web', version: '1' }, { ...fast, documentId });
    const [{ operations }] = write(log) as unknown as [{ operations: object[] }];
    const client = { metadata: { client: { name: 'web', version: '1' } } };
    expect(operations).toMatchObject([{ persistedDocumentHash: 'web~1.0~abc' }, client, client, client, client]);
    expect(operations[0]).not.toHaveProperty('metadata');
    for (const each of operations.slice(1)) expect(each).not.toHaveProperty('persistedDocumentHash');
  });

  it('writes durations in nanoseconds as integers', () => {
    const log = create();
    log.add(A, nobody, { ...fast, ms: 1.23456789, isError: true });
    expect(write(log)).toMatchObject([{ operations: [{ execution: { duration: 1_234_568, ok: false, errorsTotal: 1 } }] }]);
  });
});

describe('RequestLog', () => {
  it('calls onFull once when it has the requests of one report', () => {
    let calls = 0;
    const log = create({ onFull: () => calls++ });
    for (let i = 0; i < 1500; i++) log.add(A, nobody, fast);
    expect(calls).toBe(1);
  });

  it('drops requests beyond its bound of memory, each with a call', () => {
    let dropped = 0;
    const log = create({ maxBytes: 10_000, onDrop: () => dropped++ });
    for (let i = 0; i < 1000; i++) log.add(A, { name: 'x'.repeat(5000), version: undefined }, fast);
    expect(log.bytes).toBeLessThan(10_500);
    const [report] = write(log);
    expect((report?.size ?? 0) + dropped).toBe(1000);
    expect(log.bytes).toBe(0);
  });

  it.each([
    [0, 0, 0],
    [0.5, 300, 700],
  ])('keeps the share %d of requests', (sampleRate, least, most) => {
    const log = create({ sampleRate });
    for (let i = 0; i < 1000; i++) log.add(A, nobody, fast);
    const kept = log.take().length;
    expect(kept).toBeGreaterThanOrEqual(least);
    expect(kept).toBeLessThanOrEqual(most);
  });

  it('cuts the names of clients to 100 characters without control characters', () => {
    const log = create();
    log.add(A, { name: `a\tb${'x'.repeat(200)}`, version: '1' }, fast);
    expect(log.take()).toMatchObject([{ client: `a b${'x'.repeat(97)}`, version: '1' }]);
  });
});
