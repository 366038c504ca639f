import { describe, expect, it } from '@jest/globals';
import type { Role } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { FetchLog } from './fetch-log.ts';

const callerOf = (role: Role) => createTestCaller({ role });

function createLog(): FetchLog {
  const log = new FetchLog();
  log.add('users', 3);
  log.add('orders', 20);
  log.add('users', 0.14159);
  return log;
}

describe('FetchLog.toHeaders', () => {
  it('returns the duration of each subgraph to administrators only', () => {
    const log = createLog();
    expect(log.toHeaders(callerOf('ADMIN'))).toEqual({ 'server-timing': 'users;dur=3.1, orders;dur=20.0' });
    for (const caller of [callerOf('MODERATOR'), callerOf('USER'), null]) expect(log.toHeaders(caller)).toEqual({});
    expect(new FetchLog().toHeaders(callerOf('ADMIN'))).toEqual({});
  });

  it('returns Idempotent-Replayed to every caller', () => {
    const log = createLog();
    log.markReplayed();
    expect(log.toHeaders(null)).toEqual({ 'idempotent-replayed': 'true' });
  });

  it('returns forwarded values in their order, up to 20 and to 8,192 characters', () => {
    const log = new FetchLog();
    log.forward('set-cookie', ['b=1', 'a=1']);
    log.forward('x-a', 'x'.repeat(8190));
    log.forward('set-cookie', 'c=1');
    expect(log.toHeaders(null)).toEqual({ 'set-cookie': ['b=1', 'a=1', 'c=1'] });
    log.forward('set-cookie', Array<string>(30).fill('d'));
    expect(log.toHeaders(null)['set-cookie']).toHaveLength(19);
  });
});

describe('FetchLog.adopt', () => {
  it('adds the policies of an equal operation to those that the log has, as in a batch, and lifts none', () => {
    const log = new FetchLog();
    log.restrictCaching('private, max-age=60', {});
    log.adopt(new FetchLog());
    expect(log.restriction).toEqual({ maxAge: 60, sharedMaxAge: 0, isPrivate: true });
    const other = new FetchLog();
    other.restrictCaching('max-age=9', {});
    other.add('users', 1);
    log.add('users', 1);
    log.adopt(other);
    expect(log.cachePolicy).toEqual({ maxAge: 9, sharedMaxAge: 0, isPrivate: true });
  });
});
