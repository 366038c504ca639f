/** Against a real PostgreSQL: records of requests beside changes of their accounts. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AdapterPayload } from 'oidc-provider';
import { TEST_CLIENT, type TestStores, openTestStores } from '../test-stores.ts';
import { createAccountGenerations } from './account-generations.ts';
import { type RecordStore, createRecordStore } from './record-store.ts';

const NEW_PASSWORD = `UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = $1`;
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

/** Returns the store as one request has it. */
function beginRequest() {
  const generations = createAccountGenerations();
  return { generations, records: createRecordStore({ query: system.query, generations: () => generations, lookupKey: 'a key' }) };
}

type Write = (records: RecordStore, userId: string) => Promise<boolean>;
const upsert =
  (kind: string, toPayload: (accountId: string) => AdapterPayload): Write =>
  (records, userId) =>
    records.upsert({ kind, key: randomUUID(), payload: toPayload(userId), expiresInSeconds: 60 });
const WRITES: readonly (readonly [string, Write])[] = [
  ['the login of an interaction', upsert('Interaction', (accountId) => ({ result: { login: { accountId } } }))],
  ['a session', upsert('Session', (accountId) => ({ accountId, uid: randomUUID() }))],
  ['a code', upsert('AuthorizationCode', (accountId) => ({ accountId, grantId: 'grant' }))],
  ['a refresh token', upsert('RefreshToken', (accountId) => ({ accountId, grantId: 'grant' }))],
  [
    'a grant',
    (records, accountId) =>
      records.saveGrant({ key: randomUUID(), payload: { accountId, clientId: 'cli_1' }, expiresInSeconds: 60 }, TEST_CLIENT),
  ],
];
const countOf = async (userId: string) => {
  const records = await system.run(`SELECT FROM "oauth_records" WHERE "payload"::text LIKE '%' || $1 || '%'`, [userId]);
  const consents = await system.run(`SELECT FROM "security_events" WHERE "userId" = $1`, [userId]);
  return { records: records.length, consents: consents.length };
};

describe.each(WRITES)('%s', (name, write) => {
  it('is written for an account as the request has read it, and ends with its tokens', async () => {
    const { id, tokenGeneration } = await system.createUser();
    const { records, generations } = beginRequest();
    generations.note(id, tokenGeneration);
    expect(await write(records, id)).toBe(true);
    expect(await countOf(id)).toEqual({ records: 1, consents: name === 'a grant' ? 1 : 0 });
    await system.run(NEW_PASSWORD, [id]);
    expect((await countOf(id)).records).toBe(0);
  });

  it('is not written after a new password, even if the request reads the account again', async () => {
    const { id, tokenGeneration } = await system.createUser();
    const { records, generations } = beginRequest();
    generations.note(id, tokenGeneration);
    await system.run(NEW_PASSWORD, [id]);
    generations.note(id, tokenGeneration + 1);
    expect(await write(records, id)).toBe(false);
    expect(await countOf(id)).toEqual({ records: 0, consents: 0 });
  });

  it('is not written beside a new password that is committed a moment later', async () => {
    const { id, tokenGeneration } = await system.createUser();
    const { records, generations } = beginRequest();
    generations.note(id, tokenGeneration);
    expect(await system.duringTransaction(NEW_PASSWORD, [id], () => write(records, id))).toBe(false);
    expect(await countOf(id)).toEqual({ records: 0, consents: 0 });
  });

  it('is not written for an account that the request has not read, or that was deleted', async () => {
    const { id, tokenGeneration } = await system.createUser();
    const { records, generations } = beginRequest();
    expect(await write(records, id)).toBe(false);
    generations.note(id, tokenGeneration);
    await system.stores.users.delete(id, undefined);
    expect(await write(records, id)).toBe(false);
    expect(await countOf(id)).toEqual({ records: 0, consents: 0 });
  });
});

describe('a record that a request reads', () => {
  it('allows it to write for the account as it was when the record was read', async () => {
    const { id, tokenGeneration } = await system.createUser();
    const first = beginRequest();
    first.generations.note(id, tokenGeneration);
    const payload = { accountId: id, uid: randomUUID() };
    await first.records.upsert({ kind: 'Session', key: 'cookie', payload, expiresInSeconds: 60 });
    const [byKey, byUid] = [beginRequest(), beginRequest()];
    expect(await byKey.records.find({ kind: 'Session', key: 'cookie' })).toMatchObject(payload);
    expect(await byUid.records.findByLookup('Session', payload.uid)).toMatchObject(payload);
    const code = { kind: 'AuthorizationCode', key: 'code', payload: { accountId: id }, expiresInSeconds: 60 };
    expect(await Promise.all([byKey, byUid].map(({ records }) => records.upsert(code)))).toEqual([true, true]);
  });
});

describe('a device code', () => {
  it('is found by its user code, of which the database has an HMAC only, also after it was written again without it', async () => {
    const { records } = beginRequest();
    const [userCode, clientId] = ['12345678', randomUUID()];
    const code = { kind: 'DeviceCode', key: randomUUID(), payload: { clientId, userCode }, expiresInSeconds: 60 };
    expect(await records.upsert(code)).toBe(true);
    const found = await records.findByLookup('DeviceCode', userCode);
    expect(found).toMatchObject({ clientId, userCode });
    expect(await records.upsert({ ...code, key: String(found?.jti), payload: { clientId, error: 'access_denied' } })).toBe(true);
    expect(await records.findByLookup('DeviceCode', userCode)).toMatchObject({ clientId, userCode, error: 'access_denied' });
    expect(await records.findByLookup('DeviceCode', '12345679')).toBeUndefined();
    const rows = await system.run<{ row: string }>(`SELECT r::text AS "row" FROM "oauth_records" r WHERE "payload" ->> 'clientId' = $1`, [
      clientId,
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(userCode);
  });
});
