import { describe, expect, it, jest } from '@jest/globals';
import type { Caller } from '../identity.ts';
import { REVOCATION_SECONDS, createRevocations, readRevocation } from './revocations.ts';
import { createTestCaller } from '../tokens/test-identity.ts';
import { ACCESS_TOKEN_SECONDS } from '../tokens/tokens.ts';

const caller = (changes: Partial<Caller>) => createTestCaller({ userId: 'usr_1', tokenId: 't1', ...changes });

describe('createRevocations', () => {
  it('keeps a revocation until every token that it revokes has expired', () => {
    let now = 0;
    const revocations = createRevocations({ now: () => now });
    revocations.add({ userId: 'usr_1', tokenId: 't1' });
    now += (ACCESS_TOKEN_SECONDS + 60) * 1000;
    revocations.add({ userId: 'usr_2', generation: 1 });
    expect(revocations.isRevoked(caller({}))).toBe(true);
    expect(revocations.list()).toHaveLength(2);
    now = REVOCATION_SECONDS * 1000;
    expect(revocations.isRevoked(caller({}))).toBe(false);
    expect(revocations.list()).toEqual([{ userId: 'usr_2', generation: 1 }]);
  });

  it('keeps a revocation when the clock of the machine jumps ahead and back', () => {
    const clock = jest.spyOn(Date, 'now');
    const revocations = createRevocations();
    revocations.add({ userId: 'usr_1', tokenId: 't1' });
    clock.mockReturnValue(Date.now() + 2 * REVOCATION_SECONDS * 1000);
    revocations.add({ userId: 'usr_2', generation: 1 });
    clock.mockRestore();
    expect(revocations.isRevoked(caller({}))).toBe(true);
  });

  it('keeps revocations of tokens of other issuers for as long as these may live', () => {
    let now = 0;
    const revocations = createRevocations({ now: () => now, foreignSeconds: 86_700 });
    const foreign = { userId: 'acme:bob', tokenId: 'acme:j' };
    for (const revocation of [foreign, { userId: 'usr_1', tokenId: 't1' }]) revocations.add(revocation);
    now = 86_699_000;
    expect([revocations.isRevoked(caller(foreign)), revocations.isRevoked(caller({}))]).toEqual([true, false]);
    expect(revocations.list()).toEqual([foreign]);
    now = 86_700_000;
    expect(revocations.isRevoked(caller(foreign))).toBe(false);
  });

  it('keeps the highest generation of an account, in whatever order generations are added', () => {
    const revocations = createRevocations();
    for (const generation of [2, 5, 3]) revocations.add({ userId: 'usr_1', generation });
    expect(revocations.list()).toEqual([{ userId: 'usr_1', generation: 5 }]);
    expect(revocations.isRevoked(caller({ generation: 4 }))).toBe(true);
    expect(revocations.isRevoked(caller({ generation: 5 }))).toBe(false);
  });

  it('revokes the tokens of a session, and no others of the account', () => {
    const revocations = createRevocations();
    revocations.add({ userId: 'usr_1', sessionId: 'ses_1' });
    expect(revocations.isRevoked(caller({ sessionId: 'ses_1' }))).toBe(true);
    expect(revocations.isRevoked(caller({ sessionId: 'ses_2' }))).toBe(false);
    expect(revocations.isRevoked(caller({ sessionId: null }))).toBe(false);
    expect(revocations.list()).toEqual([{ userId: 'usr_1', sessionId: 'ses_1' }]);
  });

  it('keeps revocations of accounts, sessions and tokens apart when their ids are equal', () => {
    const revocations = createRevocations();
    revocations.add({ userId: 'usr_2', tokenId: 'usr_1' });
    revocations.add({ userId: 'usr_2', sessionId: 'usr_1' });
    expect(revocations.isRevoked(caller({}))).toBe(false);
    revocations.add({ userId: 'usr_1', generation: 1 });
    expect(revocations.isRevoked(caller({}))).toBe(true);
    expect(revocations.list()).toHaveLength(3);
  });

  it.each([{ tokenId: 'same' }, { sessionId: 'same' }])('revokes for each of two accounts what has the same id: %j', (ids) => {
    const revocations = createRevocations();
    for (const userId of ['usr_1', 'usr_2']) revocations.add({ userId, ...ids });
    for (const userId of ['usr_1', 'usr_2']) expect(revocations.isRevoked(caller({ userId, ...ids }))).toBe(true);
  });

  it('does not revoke a token of another account that has the same id', () => {
    const revocations = createRevocations();
    revocations.add({ userId: 'usr_2', tokenId: 't1' });
    revocations.add({ userId: 'usr_2', sessionId: 'ses_1' });
    expect(revocations.isRevoked(caller({ sessionId: 'ses_1' }))).toBe(false);
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
  it.each([[{ userId: 'usr_1', tokenId: 't' }], [{ userId: 'usr_1', sessionId: 'ses_1' }], [{ userId: 'usr_1', generation: 1 }]])(
    'returns the revocation %j',
    (value) => {
      expect(readRevocation(value)).toEqual(value);
    },
  );

  it.each([[null], [{}], [{ userId: 'usr_1' }], [{ userId: 'usr_1', generation: '1' }], [{ tokenId: 't' }], ['text']])(
    'returns undefined for %j',
    (value) => {
      expect(readRevocation(value)).toBeUndefined();
    },
  );
});
