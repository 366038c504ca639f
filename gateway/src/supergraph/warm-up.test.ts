import { describe, expect, it } from '@jest/globals';
import { NO_ACCESS } from '../access/access-rule.ts';
import type { UsedDocument } from './prepared-operations.ts';
import { warmUp } from './warm-up.ts';

const used = (query: string): UsedDocument => ({ request: { query, operationName: undefined }, access: NO_ACCESS, labels: [] });
const last = { mostUsed: (count: number) => ['{ a }', '{ b }', '{ c }'].map(used).slice(0, count) };

/** Plans into `planned`; documents of `stuck` are never planned, those of `refused` are rejected. */
function createNext({ stuck = [], refused = [] }: { stuck?: string[]; refused?: string[] } = {}) {
  const planned: string[] = [];
  const lines: string[] = [];
  const log = { info: (line: string) => lines.push(line) };
  const result = { errors: [], isPlanned: false, reason: undefined };
  let finish: () => void = () => undefined;
  const prepare = ({ query }: { query: string }) => {
    if (stuck.includes(query))
      return new Promise<typeof result>(
        (resolve) =>
          (finish = () => {
            resolve(result);
          }),
      );
    if (refused.includes(query)) return Promise.reject(new Error('refused'));
    planned.push(query);
    return Promise.resolve(result);
  };
  return {
    hash: '1234',
    planned,
    prepare,
    lines,
    log,
    finish: () => {
      finish();
    },
  };
}

describe('warmUp', () => {
  it('plans the most used operations first, at most as many as it may', async () => {
    const next = createNext();
    await warmUp(next, last, { maxOperations: 2, maxMs: 120_000, log: next.log });
    expect(next.lines).toEqual(['planned 2 of the 2 most used operations for a new supergraph']);
    expect(next.planned).toEqual(['{ a }', '{ b }']);
  });

  it('goes on after an operation that cannot be planned', async () => {
    const next = createNext({ refused: ['{ a }'] });
    await warmUp(next, last, { maxOperations: 200, maxMs: 120_000, log: next.log });
    expect(next.lines).toEqual(['planned 2 of the 3 most used operations for a new supergraph']);
  });

  it('ends when its time is over while an operation is being planned, and plans no further one', async () => {
    const next = createNext({ stuck: ['{ b }'] });
    await warmUp(next, last, { maxOperations: 200, maxMs: 20, log: next.log });
    expect(next.lines).toEqual(['planned 1 of the 3 most used operations for a new supergraph']);
    next.finish();
    await new Promise(setImmediate);
    expect(next.planned).toEqual(['{ a }']);
  });

  it.each([
    { maxOperations: 0, maxMs: 120_000 },
    { maxOperations: 200, maxMs: 0 },
  ])('plans nothing with %j', async (settings) => {
    const next = createNext();
    await warmUp(next, last, { ...settings, log: next.log });
    expect(next.lines).toEqual(['planned 0 of the 0 most used operations for a new supergraph']);
    expect(next.planned).toEqual([]);
  });
});
