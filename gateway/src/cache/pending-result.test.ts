import { describe, expect, it } from '@jest/globals';
import { PendingResult } from './pending-result.ts';

describe('PendingResult', () => {
  it.each([true, false])('reports a result as stored when the store has kept it: %s', (isStored) => {
    const policy = { maxAge: 60, sharedMaxAge: 60, isPrivate: false };
    const pending = new PendingResult({ key: 'k', store: { put: () => isStored }, version: 1, policy, tags: [], staleSeconds: 0 });
    const ending = {
      outcome: 'complete',
      bytes: Buffer.from('{}'),
      length: 2,
      restriction: undefined,
      hasHeaders: false,
      tags: [],
    } as const;
    expect(pending.settle(ending)).toEqual({ kind: 'miss', isStored, isCollapsed: false });
  });
});
