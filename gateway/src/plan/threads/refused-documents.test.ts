import { describe, expect, it } from '@jest/globals';
import { RefusedDocuments } from './refused-documents.ts';

const task = (query: string, operationName?: string) => ({ kind: 'prepare', request: { query, operationName, labels: [] } }) as const;

describe('RefusedDocuments', () => {
  it('knows a refused document for a minute, under the same operation name', () => {
    let now = 0;
    const refused = new RefusedDocuments({ now: () => now });
    refused.add(task('{ a }'));
    now = 59_999;
    expect(refused.has(task('{ a }'))).toBe(true);
    expect(refused.has(task('{ a }', 'A'))).toBe(false);
    expect(refused.has(task('{ b }'))).toBe(false);
    now = 60_000;
    expect(refused.has(task('{ a }'))).toBe(false);
    expect(refused.size).toBe(0);
  });

  it('forgets the document that was refused first when it has too many', () => {
    const refused = new RefusedDocuments({ maxDocuments: 3 });
    for (const query of ['{ a }', '{ b }', '{ c }', '{ d }']) refused.add(task(query));
    expect(['{ a }', '{ b }', '{ c }', '{ d }'].map((query) => refused.has(task(query)))).toEqual([false, true, true, true]);
  });
});
