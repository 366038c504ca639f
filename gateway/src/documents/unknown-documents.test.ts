import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createDocuments } from './documents.ts';
import { readTrustedDocuments } from './trusted.ts';
import { createUnknownRecord } from './unknown-documents.ts';

function start(isTrustedOnly: boolean) {
  const lines: string[] = [];
  const metrics = new Registry();
  const clock = { now: 0 };
  const log = { warn: (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`) };
  const recordUnknown = createUnknownRecord({ log, metrics }, () => clock.now);
  const trusted = readTrustedDocuments('{"a": "{ a }"}');
  const documents = createDocuments({ readTrusted: () => trusted, isTrustedOnly, recordUnknown });
  const resolve = (query: string) => documents.resolve({ query, extensions: {} } as never, { name: undefined, version: undefined });
  return { lines, metrics, clock, resolve };
}

describe('the record of unknown documents', () => {
  it('counts every document that is not trusted and logs each once, without its text', async () => {
    const { lines, metrics, resolve } = start(false);
    for (const query of ['{ a }', '{ b }', '{ b }', '{ c }']) expect(resolve(query)).toBe(query);
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('{ b }');
    expect(lines[0]).toMatch(/^executed a document that is not trusted {"hash":"[0-9a-f]{64}"}$/);
    expect(await metrics.metrics()).toContain('trestle_unknown_documents_total{result="executed"} 3');
  });

  it('counts and logs refused documents too', async () => {
    const { lines, metrics, resolve } = start(true);
    expect(() => resolve('{ b }')).toThrow('Only trusted documents');
    expect(lines[0]).toContain('refused a document');
    expect(await metrics.metrics()).toContain('trestle_unknown_documents_total{result="refused"} 1');
  });

  it('logs at most 60 documents in a minute', () => {
    const { lines, clock, resolve } = start(false);
    for (let i = 0; i < 100; i++) void resolve(`{ b${String(i)} }`);
    expect(lines).toHaveLength(60);
    clock.now = 60_000;
    void resolve('{ c }');
    expect(lines).toHaveLength(61);
  });
});
