import { describe, expect, it } from '@jest/globals';
import { PendingResult } from './pending-result.ts';

const POLICY = { maxAge: 60, sharedMaxAge: 60, isPrivate: false };
const ENDING = {
  outcome: 'complete',
  bytes: Buffer.from('{}'),
  length: 2,
  restriction: undefined,
  hasHeaders: false,
  tags: [],
  keptVersion: Infinity,
} as const;

describe('PendingResult', () => {
  it.each([true, false])('reports a result as stored when the store has kept it: %s', (isStored) => {
    const pending = new PendingResult({ key: 'k', store: { put: () => isStored }, version: 1, policy: POLICY, tags: [], staleSeconds: 0 });
    expect(pending.settle(ENDING)).toEqual({ kind: 'miss', isStored, isCollapsed: false });
  });

  it.each([
    { keptVersion: Infinity, partsVersion: 3, isShared: true },
    { keptVersion: 3, partsVersion: 3, isShared: true },
    { keptVersion: 2, partsVersion: 2, isShared: false },
  ])('keeps a result with the version of its oldest part, which other clients wait for if it is current: $keptVersion', async (each) => {
    const { keptVersion, partsVersion, isShared } = each;
    let kept: unknown;
    const put = (_: string, result: { readonly version: number; readonly partsVersion: number }) => {
      kept = [result.version, result.partsVersion];
      return true;
    };
    const pending = new PendingResult({ key: 'k', store: { put }, version: 3, policy: POLICY, tags: [], staleSeconds: 0 });
    const waiting = new Promise((resolve) => {
      pending.join(resolve);
    });
    pending.settle({ ...ENDING, keptVersion });
    expect([kept, (await waiting) !== undefined]).toEqual([[3, partsVersion], isShared]);
  });
});
