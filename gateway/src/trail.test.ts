import { expect, it } from '@jest/globals';
import { toTrailHeaders } from './trail.ts';

const callerOf = (role: 'USER' | 'MODERATOR' | 'ADMIN') => ({ userId: 'usr_a', role, tokenId: 't', expiresAt: 0 });
const durationsMs = new Map([
  ['users', 3.14159],
  ['orders', 20],
]);

it('tells administrators, and nobody else, how long each subgraph took', () => {
  const trail = { durationsMs, isReplayed: false };
  expect(toTrailHeaders(trail, callerOf('ADMIN'))).toEqual({ 'server-timing': 'users;dur=3.1, orders;dur=20.0' });
  for (const caller of [callerOf('MODERATOR'), callerOf('USER'), null]) expect(toTrailHeaders(trail, caller)).toEqual({});
  expect(toTrailHeaders({ durationsMs: new Map(), isReplayed: false }, callerOf('ADMIN'))).toEqual({});
});

it('tells everybody of a replay', () => {
  expect(toTrailHeaders({ durationsMs, isReplayed: true }, null)).toEqual({ 'idempotent-replayed': 'true' });
});
