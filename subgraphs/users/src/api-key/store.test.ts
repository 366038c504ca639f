/** Against a real PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '@trestle/chassis/database/database';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { parseWindow } from '@trestle/chassis/paging/window';
import { createIds } from '@trestle/chassis/values/ids';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { type Transact, type UsersStores, openUsersStores } from '../stores.ts';
import { MAX_API_KEYS, type NewApiKey } from './rules.ts';
import { API_KEY_SORTING, type HashedKey, type Rotation } from './store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ADDRESS = '203.0.113.0/24';
let testDatabase: TestDatabase;
let database: Database;
let stores: UsersStores;
let transact: Transact;
let close: () => Promise<void>;
let now = new Date('2026-01-01T00:00:00Z');

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
  const opened = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: () => now });
  stores = opened.idempotency.stores;
  transact = opened.transact;
  close = opened.close;
});
afterAll(async () => {
  await close();
  await database.close();
  await testDatabase.drop();
});

let count = 0;
const makeUser = () => stores.users.create({ email: `${String(++count)}@example.org`, name: 'Ada', password: '' }, 'hash');
const hashed = () => ({ hash: randomBytes(32), lastFour: 'abcd' });
const newKey = (userId: string, changes: Partial<NewApiKey> = {}): NewApiKey => ({
  userId,
  name: 'Export',
  scopes: ['orders:read'],
  isAllowedInUrl: false,
  expiresAt: null,
  ...changes,
});
const create = (key: NewApiKey & HashedKey) => transact(({ apiKeys }) => apiKeys.create(key));
const use = (hash: Buffer, address: string | null = ADDRESS) => stores.apiKeys.use(hash, address);
async function make(changes: Partial<NewApiKey> = {}) {
  const user = await makeUser();
  const secret = hashed();
  return { user, ...secret, key: await create({ ...newKey(user.id, changes), ...secret }) };
}
const eventsOf = (userId: string) =>
  withClient(testDatabase.url, async (client) => {
    const { rows } = await client.query(`SELECT "data" FROM "outbox" WHERE "type" = 'tokens.revoked' AND "subject" = $1`, [userId]);
    return (rows as { data: object }[]).map(({ data }) => data);
  });
const codes = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((each) => (each.status === 'fulfilled' ? 'done' : (each.reason as { code: string }).code)).sort();

describe('a new API key', () => {
  it('is returned without its hash, and found by it with what a token needs', async () => {
    const { user, hash, key } = await make({ expiresAt: new Date('2026-03-01T00:00:00Z') });
    expect(key).toMatchObject({ userId: user.id, lastFour: 'abcd', scopes: ['orders:read'], lastUsedAt: null, version: 1 });
    expect(key.id).toMatch(/^key_[0-9a-hjkmnp-tv-z]{26}$/);
    for (const read of [key, ...(await stores.apiKeys.findByIds([key.id], { visibility: { all: true } }))])
      expect(read).not.toHaveProperty('hash');
    expect(await use(hash)).toEqual({
      id: key.id,
      userId: user.id,
      scopes: ['orders:read'],
      isAllowedInUrl: false,
      expiresAt: key.expiresAt,
      role: 'USER',
      plan: 'free',
      requestsPerMinute: null,
      tokenGeneration: 0,
      isNews: true,
    });
  });

  it('is refused beyond 50 of one account, also when requests are concurrent', async () => {
    const { id } = await makeUser();
    await withClient(testDatabase.url, (client) =>
      client.query(
        `INSERT INTO "api_keys" ("id", "userId", "name", "hash", "lastFour", "scopes")
         SELECT $1 || n, $1, 'Old', sha256(($1 || n)::bytea), 'abcd', '{}' FROM generate_series(1, $2::int) n`,
        [id, MAX_API_KEYS - 2],
      ),
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => create({ ...newKey(id), ...hashed() })));
    expect(codes(outcomes)).toEqual([...Array<string>(3).fill('BUSINESS_RULE_VIOLATION'), 'done', 'done']);
    expect(await stores.apiKeys.count({ visibility: { all: false, userId: id } })).toBe(MAX_API_KEYS);
  });

  it('takes the place of keys that have expired when the account has 50, and leaves tombstones of them', async () => {
    const { id } = await makeUser();
    await withClient(testDatabase.url, (client) =>
      client.query(
        `INSERT INTO "api_keys" ("id", "userId", "name", "hash", "lastFour", "scopes", "expiresAt")
         SELECT $1 || n, $1, 'Old', sha256(($1 || n)::bytea), 'abcd', '{}', CASE WHEN n <= 2 THEN $3::timestamptz END
         FROM generate_series(1, $2::int) n`,
        [id, MAX_API_KEYS, now],
      ),
    );
    const { id: newest } = await create({ ...newKey(id), ...hashed() });
    const left = await stores.apiKeys.list({ visibility: { all: true }, userId: id }, parseWindow({ first: 100 }, API_KEY_SORTING));
    expect(left).toHaveLength(MAX_API_KEYS - 1);
    expect(left.map((key) => key.id)).toContain(newest);
    expect(await stores.users.findDeleted([`${id}1`, `${id}2`, `${id}3`])).toHaveLength(2);
    await create({ ...newKey(id), ...hashed() });
    await expect(create({ ...newKey(id), ...hashed() })).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
  });

  it('is refused for an account that does not exist', async () => {
    await expect(create({ ...newKey('usr_none'), ...hashed() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the use of an API key', () => {
  it('is noted at most once a minute, and changes neither version nor updatedAt', async () => {
    const { hash, key } = await make();
    const usedAt = async () => (await stores.apiKeys.findByIds([key.id], { visibility: { all: true } }))[0];
    const first = now;
    await use(hash);
    now = new Date(first.getTime() + 59_000);
    await use(hash);
    expect(await usedAt()).toMatchObject({ lastUsedAt: first, version: 1, updatedAt: key.updatedAt });
    now = new Date(first.getTime() + 60_000);
    await use(hash);
    expect((await usedAt())?.lastUsedAt).toEqual(now);
  });

  it('is news once in 15 minutes for each network that it comes from', async () => {
    const { user, hash, key } = await make();
    const isNews = async (address: string | null) => {
      now = new Date(now.getTime() + 60_000);
      const used = await use(hash, address);
      if (used?.isNews)
        await stores.securityEvents.record({ type: 'API_KEY_USED', userId: user.id, subject: key.id, client: { address, device: null } });
      return used?.isNews;
    };
    expect([await isNews(ADDRESS), await isNews(ADDRESS), await isNews(null), await isNews(null)]).toEqual([true, false, true, false]);
    await withClient(testDatabase.url, async (client) => {
      // An entry cannot be changed: it becomes older only as time passes.
      await client.query(`SET session_replication_role = 'replica'`);
      // The column has whole seconds: without one more, the time could be rounded up into the last 15 minutes.
      await client.query(`UPDATE "security_events" SET "createdAt" = now() - interval '15 minutes 1 second' WHERE "userId" = $1`, [
        user.id,
      ]);
    });
    expect(await isNews(ADDRESS)).toBe(true);
  });

  it('is refused for an unknown hash, an expired key and an inactive account', async () => {
    expect(await use(randomBytes(32))).toBeUndefined();
    const expiring = await make({ expiresAt: new Date(now.getTime() + 1000) });
    expect(await use(expiring.hash)).toBeDefined();
    now = new Date(now.getTime() + 1000);
    expect(await use(expiring.hash)).toBeUndefined();
    const inactive = await make();
    await stores.users.update(inactive.user.id, { isActive: false }, { expectedVersions: undefined });
    expect(await use(inactive.hash)).toBeUndefined();
  });
});

describe('a deleted API key', () => {
  it('is not found, leaves a tombstone, and revokes its session in the same transaction', async () => {
    const { user, hash, key } = await make();
    expect(await stores.apiKeys.delete(key.id, [1])).toBe(user.id);
    expect(await use(hash)).toBeUndefined();
    expect(await eventsOf(user.id)).toEqual([{ sessionId: key.id }]);
    expect(await stores.users.findDeleted([key.id])).toEqual([{ id: key.id, ownerId: user.id }]);
    await expect(stores.apiKeys.delete(key.id, undefined)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(stores.apiKeys.update(key.id, { name: 'x' }, { expectedVersions: undefined })).rejects.toMatchObject({ code: 'GONE' });
  });

  it('leaves a tombstone, and revokes its session, also when its account is deleted', async () => {
    const { user, hash, key } = await make();
    await stores.users.delete(user.id, undefined);
    expect(await use(hash)).toBeUndefined();
    expect(await stores.users.findDeleted([key.id])).toEqual([{ id: key.id, ownerId: user.id }]);
    expect(await eventsOf(user.id)).toContainEqual({ sessionId: key.id });
  });

  it('stays when another version is expected', async () => {
    const { hash, key } = await make();
    await expect(stores.apiKeys.delete(key.id, [7])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(await use(hash)).toBeDefined();
  });
});

describe('a sweep', () => {
  it('deletes keys that expired 30 days ago, and leaves tombstones of them', async () => {
    const [old, young, endless] = [await make({ expiresAt: now }), await make({ expiresAt: new Date(now.getTime() + 1000) }), await make()];
    now = new Date(now.getTime() + 30 * DAY_MS);
    await stores.apiKeys.sweep();
    const ids = [old.key.id, young.key.id, endless.key.id];
    const left = await stores.apiKeys.findByIds(ids, { visibility: { all: true } });
    expect(left.map(({ id }) => id).sort()).toEqual([young.key.id, endless.key.id].sort());
    expect(await stores.users.findDeleted(ids)).toEqual([{ id: old.key.id, ownerId: old.user.id }]);
  });

  it('of a process whose clock is ahead deletes no key that has not expired by the clock of the database', async () => {
    const { key } = await make({ expiresAt: new Date(Date.now() + DAY_MS) });
    const before = now;
    now = new Date(Date.now() + 400 * DAY_MS);
    await stores.apiKeys.sweep();
    now = before;
    expect(await stores.apiKeys.findByIds([key.id], { visibility: { all: true } })).toHaveLength(1);
  });
});

describe('a rotation', () => {
  const rotate = ({ user, key }: Awaited<ReturnType<typeof make>>, overlapMs = 2 * HOUR_MS, expectedVersions?: number[]) => {
    const secret = hashed();
    const successor = { ...newKey(user.id), name: key.name, isAllowedInUrl: key.isAllowedInUrl, ...secret };
    const rotation: Rotation = { id: key.id, successor, overlapMs, expectedVersions };
    return transact(({ apiKeys }) => apiKeys.rotate(rotation)).then((created) => ({ created, hash: secret.hash }));
  };

  it('lets both keys be used until the overlap has passed', async () => {
    const made = await make();
    const { created, hash } = await rotate(made);
    const [old] = await stores.apiKeys.findByIds([made.key.id], { visibility: { all: true } });
    expect(old).toMatchObject({ successorId: created.id, expiresAt: new Date(now.getTime() + 2 * HOUR_MS), version: 2 });
    expect([await use(made.hash), await use(hash)].map((used) => used?.id)).toEqual([made.key.id, created.id]);
    now = new Date(now.getTime() + 2 * HOUR_MS);
    expect([await use(made.hash), await use(hash)].map((used) => used?.id)).toEqual([undefined, created.id]);
    expect(await eventsOf(made.user.id)).toEqual([]);
  });

  it('keeps the name and the permission for URLs of the old key, also when they changed after the rotation was requested', async () => {
    const made = await make({ isAllowedInUrl: true });
    await stores.apiKeys.update(made.key.id, { name: 'Renamed', isAllowedInUrl: false }, { expectedVersions: undefined });
    expect((await rotate(made)).created).toMatchObject({ name: 'Renamed', isAllowedInUrl: false });
  });

  it('never prolongs the life of the old key', async () => {
    const expiresAt = new Date(now.getTime() + HOUR_MS);
    const made = await make({ expiresAt });
    await rotate(made);
    expect((await stores.apiKeys.findByIds([made.key.id], { visibility: { all: true } }))[0]?.expiresAt).toEqual(expiresAt);
  });

  it('deletes the old key at once without an overlap', async () => {
    const made = await make();
    const { created } = await rotate(made, 0);
    expect(await use(made.hash)).toBeUndefined();
    expect(await eventsOf(made.user.id)).toEqual([{ sessionId: made.key.id }]);
    expect(created.version).toBe(1);
  });

  it('happens once, however many requests are concurrent', async () => {
    const made = await make();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => rotate(made)));
    expect(codes(outcomes)).toEqual([...Array<string>(4).fill('BUSINESS_RULE_VIOLATION'), 'done']);
    const scope = { visibility: { all: false, userId: made.user.id } } as const;
    expect(await stores.apiKeys.list(scope, parseWindow({}, API_KEY_SORTING))).toHaveLength(2);
  });

  it('creates no key when the old one is deleted at the same time', async () => {
    const made = await make();
    const outcomes = await Promise.allSettled([rotate(made), stores.apiKeys.delete(made.key.id, undefined)]);
    const left = await stores.apiKeys.count({ visibility: { all: false, userId: made.user.id } });
    // Either the deletion was first and the rotation failed, or the deletion removed the key that was replaced.
    expect(left).toBe(outcomes[0].status === 'fulfilled' ? 1 : 0);
    expect(outcomes[1].status).toBe('fulfilled');
    expect(await use(made.hash)).toBeUndefined();
  });

  it('is refused when another version is expected', async () => {
    const made = await make();
    await expect(rotate(made, HOUR_MS, [9])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(await stores.apiKeys.count({ visibility: { all: false, userId: made.user.id } })).toBe(1);
  });
});
