import { expect, it } from '@jest/globals';
import { toTrailHeaders } from './trail.ts';

const callerOf = (role: 'USER' | 'MODERATOR' | 'ADMIN') => ({ userId: 'usr_a', role, tokenId: 't', generation: 0, expiresAt: 0 });
const durationsMs = [
  ['users', 3],
  ['orders', 20],
  ['users', 0.14159],
] as const;

it('tells administrators, and nobody else, how long each subgraph took', () => {
  const trail = { durationsMs: [...durationsMs], isReplayed: false };
  expect(toTrailHeaders(trail, callerOf('ADMIN'))).toEqual({ 'server-timing': 'users;dur=3.1, orders;dur=20.0' });
  for (const caller of [callerOf('MODERATOR'), callerOf('USER'), null]) expect(toTrailHeaders(trail, caller)).toEqual({});
  expect(toTrailHeaders({ durationsMs: [], isReplayed: false }, callerOf('ADMIN'))).toEqual({});
});

it('tells everybody of a replay', () => {
  expect(toTrailHeaders({ durationsMs: [...durationsMs], isReplayed: true }, null)).toEqual({ 'idempotent-replayed': 'true' });
});
