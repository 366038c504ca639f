/** Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '@trestle/chassis/database/database';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { createIds } from '@trestle/chassis/values/ids';
import { parseWindow } from '@trestle/chassis/paging/window';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { openUsersStores } from '../stores.ts';
import { USER_SORTING, type UserStore } from './store.ts';

let testDatabase: TestDatabase;
let database: Database;
let users: UserStore;
let close: () => Promise<void>;
let now = new Date('2026-01-01T00:00:00Z');

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
  const opened = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: () => now });
  users = opened.idempotency.stores.users;
  close = opened.close;
});
afterAll(async () => {
  await close();
  await database.close();
  await testDatabase.drop();
});

let count = 0;
const make = (name = 'Test Person') => users.create({ email: `${String(++count)}@example.org`, name, password: '' }, 'hash');

describe('a write of an account', () => {
  it('refuses an e-mail address that differs from another one only in case', async () => {
    await users.create({ email: 'Ada@example.org', name: 'Ada', password: '' }, 'hash');
    await expect(users.create({ email: 'aDA@example.org', name: 'Eve', password: '' }, 'hash')).rejects.toMatchObject({ code: 'CONFLICT' });
    const { id } = await make();
    await expect(users.update(id, { email: 'ADA@EXAMPLE.ORG' }, { expectedVersions: undefined })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect((await users.findByEmail('ada@EXAMPLE.org'))?.name).toBe('Ada');
  });

  it('creates an account with a given id once, and never with the id of a deleted one', async () => {
    const id = createIds({ now: Date.now })('usr');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        users.createAt(id, { email: `first${String(i)}@example.org`, name: 'First', password: '' }, 'hash'),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(new Set(outcomes.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : [])))).toEqual(
      new Set(['PRECONDITION_FAILED']),
    );
    const [made] = await users.findByIds([id]);
    expect(made).toMatchObject({ version: 1, role: 'USER', isActive: true, bio: null });
    const other = createIds({ now: Date.now })('usr');
    await expect(users.createAt(other, { email: made?.email ?? '', name: 'X', password: '' }, 'hash')).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await users.delete(id, undefined);
    await expect(users.createAt(id, { email: 'again@example.org', name: 'X', password: '' }, 'hash')).rejects.toMatchObject({
      code: 'GONE',
    });
  });

  it('succeeds for one of twenty with the same expected version', async () => {
    const { id, version } = await make();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => users.update(id, { bio: String(i) }, { expectedVersions: [version] })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(outcomes.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : []))).toEqual(
      Array(19).fill('PRECONDITION_FAILED'),
    );
    expect((await users.findByIds([id]))[0]?.version).toBe(version + 1);
  });

  it('stores the age of a new account', async () => {
    const { id } = await users.create({ email: 'aged@example.org', name: 'Aged', password: '', age: 41 }, 'hash');
    expect(await users.findByIds([id])).toMatchObject([{ age: 41 }]);
  });

  it('increments version and updatedAt, and for an empty change neither', async () => {
    const { id } = await make();
    now = new Date('2026-03-01T00:00:00Z');
    expect(await users.update(id, {}, { expectedVersions: [1] })).toMatchObject({ version: 1 });
    expect(await users.update(id, { age: 5 }, { expectedVersions: [7, 1] })).toMatchObject({ version: 2, age: 5, updatedAt: now });
    await expect(users.update(id, {}, { expectedVersions: [1] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(users.update(id, { age: 6 }, { expectedVersions: [] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
  });

  it('deletes once and leaves a tombstone: then a deletion is NOT_FOUND and a change GONE', async () => {
    const { id } = await make();
    await expect(users.delete(id, [9])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    const outcomes = await Promise.allSettled([users.delete(id, undefined), users.delete(id, undefined)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(users.delete(id, undefined)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(users.update(id, { name: 'X' }, { expectedVersions: undefined })).rejects.toMatchObject({ code: 'GONE' });
    await expect(users.update('usr_never', { name: 'X' }, { expectedVersions: undefined })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await users.findDeleted([id, 'usr_never'])).toEqual([{ id, ownerId: null }]);
  });
});

describe('a revocation of a session', () => {
  it('is written as an event of the account', async () => {
    await users.revokeSession('usr_1', 'ses_1');
    const { rows } = await withClient(testDatabase.url, (client) =>
      client.query(`SELECT "subject", "data" FROM "outbox" WHERE "type" = 'tokens.revoked' AND "subject" = 'usr_1'`),
    );
    expect(rows).toEqual([{ subject: 'usr_1', data: { sessionId: 'ses_1' } }]);
  });
});

describe('a read of accounts', () => {
  it('never returns the password hash', async () => {
    await make();
    const listed = await users.list({}, parseWindow({}, USER_SORTING));
    const searched = await users.list({ search: 'Test Person' }, parseWindow({}, USER_SORTING));
    const found = await users.findByIds([(await make()).id]);
    for (const user of [...listed, ...searched, ...found]) {
      expect(user).not.toHaveProperty('passwordHash');
      expect(user).toMatchObject({ plan: 'free', requestsPerMinute: null });
    }
    expect([listed.length, searched.length, found.length].every((length) => length > 0)).toBe(true);
  });

  it('matches the wildcards of LIKE literally', async () => {
    await make('100% wool_sock');
    const find = async (search: string) => (await users.list({ search }, parseWindow({}, USER_SORTING))).map(({ name }) => name);
    expect(await find('0% WOOL_')).toEqual(['100% wool_sock']);
    expect(await find('0%%')).toEqual([]);
    expect(await users.count({ search: 'wool' })).toBe(1);
  });
});
