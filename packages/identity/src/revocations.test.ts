import { describe, expect, it } from '@jest/globals';
import { REVOCATION_SECONDS, createRevocations, readRevocation } from './revocations.ts';
import { ACCESS_TOKEN_SECONDS } from './tokens.ts';

const caller = (changes: object) => ({ userId: 'usr_1', role: 'USER' as const, tokenId: 't1', generation: 0, expiresAt: 0, ...changes });

describe('createRevocations', () => {
  it('keeps a revocation until every token that it revokes has expired', () => {
    let now = 0;
    const revocations = createRevocations(() => now);
    revocations.add({ userId: 'usr_1', tokenId: 't1' });
    now += (ACCESS_TOKEN_SECONDS + 60) * 1000;
    revocations.add({ userId: 'usr_2', generation: 1 });
    expect(revocations.isRevoked(caller({}))).toBe(true);
    expect(revocations.list()).toHaveLength(2);
    now = REVOCATION_SECONDS * 1000;
    expect(revocations.isRevoked(caller({}))).toBe(false);
    expect(revocations.list()).toEqual([{ userId: 'usr_2', generation: 1 }]);
  });

  it('keeps the highest generation of an account, in whatever order generations are added', () => {
    const revocations = createRevocations();
    for (const generation of [2, 5, 3]) revocations.add({ userId: 'usr_1', generation });
    expect(revocations.list()).toEqual([{ userId: 'usr_1', generation: 5 }]);
    expect(revocations.isRevoked(caller({ generation: 4 }))).toBe(true);
    expect(revocations.isRevoked(caller({ generation: 5 }))).toBe(false);
  });

  it('calls all subscribers and those of the account, until they unsubscribe', () => {
    const revocations = createRevocations();
    const calls: string[] = [];
    const stops = [
      revocations.subscribe(({ userId }) => calls.push(`all ${userId}`)),
      revocations.subscribeToUser('usr_1', () => calls.push('one')),
      revocations.subscribeToUser('usr_1', () => calls.push('two')),
    ];
    revocations.add({ userId: 'usr_1', tokenId: 't' });
    revocations.add({ userId: 'usr_2', tokenId: 'u' });
    expect(calls).toEqual(['all usr_1', 'one', 'two', 'all usr_2']);
    for (const stop of stops) stop();
    revocations.add({ userId: 'usr_1', tokenId: 'v' });
    expect(calls).toHaveLength(4);
  });

  it('calls a subscriber once for a revocation that is added several times', () => {
    const revocations = createRevocations();
    let calls = 0;
    revocations.subscribe(() => calls++);
    for (const revocation of [
      { userId: 'usr_1', tokenId: 't' },
      { userId: 'usr_1', tokenId: 't' },
    ])
      revocations.add(revocation);
    for (const generation of [2, 2, 1]) revocations.add({ userId: 'usr_1', generation });
    expect(calls).toBe(2);
  });
});

describe('readRevocation', () => {
  it.each([[null], [{}], [{ userId: 'usr_1' }], [{ userId: 'usr_1', generation: '1' }], [{ tokenId: 't' }], ['text']])(
    'returns undefined for %j',
    (value) => {
      expect(readRevocation(value)).toBeUndefined();
    },
  );
});
