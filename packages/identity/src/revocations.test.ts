import { describe, expect, it } from '@jest/globals';
import { REVOCATION_SECONDS, createRevocations, readRevocation } from './revocations.ts';
import { ACCESS_TOKEN_SECONDS } from './tokens.ts';

const caller = (changes: object) => ({ userId: 'usr_1', role: 'USER' as const, tokenId: 't1', generation: 0, expiresAt: 0, ...changes });

describe('revocations', () => {
  it('are forgotten only when every token that they are about has ended by itself', () => {
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

  it('of an account keep the latest generation, in whatever order they come', () => {
    const revocations = createRevocations();
    for (const generation of [2, 5, 3]) revocations.add({ userId: 'usr_1', generation });
    expect(revocations.list()).toEqual([{ userId: 'usr_1', generation: 5 }]);
    expect(revocations.isRevoked(caller({ generation: 4 }))).toBe(true);
    expect(revocations.isRevoked(caller({ generation: 5 }))).toBe(false);
  });

  it('are told to all who listen, and to those of the account, until they go', () => {
    const revocations = createRevocations();
    const told: string[] = [];
    const stops = [
      revocations.listen(({ userId }) => told.push(`all ${userId}`)),
      revocations.listenTo('usr_1', () => told.push('one')),
      revocations.listenTo('usr_1', () => told.push('two')),
    ];
    revocations.add({ userId: 'usr_1', tokenId: 't' });
    revocations.add({ userId: 'usr_2', tokenId: 'u' });
    expect(told).toEqual(['all usr_1', 'one', 'two', 'all usr_2']);
    for (const stop of stops) stop();
    revocations.add({ userId: 'usr_1', tokenId: 'v' });
    expect(told).toHaveLength(4);
  });

  it('are told once, however often they come', () => {
    const revocations = createRevocations();
    let told = 0;
    revocations.listen(() => told++);
    for (const revocation of [
      { userId: 'usr_1', tokenId: 't' },
      { userId: 'usr_1', tokenId: 't' },
    ])
      revocations.add(revocation);
    for (const generation of [2, 2, 1]) revocations.add({ userId: 'usr_1', generation });
    expect(told).toBe(2);
  });

  it.each([[null], [{}], [{ userId: 'usr_1' }], [{ userId: 'usr_1', generation: '1' }], [{ tokenId: 't' }], ['text']])(
    'are not %j',
    (value) => {
      expect(readRevocation(value)).toBeUndefined();
    },
  );
});
