/** Against a real PostgreSQL: what is left of a deleted account. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { type TestStores, openTestStores } from '../test-stores.ts';
import type { User } from './rules.ts';

let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

const resultsWith = (text: string) => system.run(`SELECT FROM "idempotency_keys" WHERE "result"::text LIKE '%' || $1 || '%'`, [text]);
const callOf = (fieldName: string): MutationCall => ({
  args: {},
  info: { fieldName, path: { prev: undefined, key: fieldName, typename: 'Mutation' } },
});
const newKey = () => ({ key: randomUUID(), scope: '', replayed: false, isStoredOnly: false });

describe('the result of a mutation under an Idempotency-Key', () => {
  const createOnce = (key: string, email: string) =>
    system.once({ caller: null, idempotency: { ...newKey(), key } }, callOf('createUser'), ({ users }) =>
      users.create({ email, name: 'Ada', password: '' }, 'hash'),
    );

  it('is returned again while its account exists', async () => {
    const [key, email] = [randomUUID(), `${randomUUID()}@example.org`];
    const user = await createOnce(key, email);
    expect(await createOnce(key, email)).toEqual(user);
    expect(await resultsWith(email)).toHaveLength(1);
  });

  it('goes with its account, which a repetition does not create again', async () => {
    const [key, email] = [randomUUID(), `${randomUUID()}@example.org`];
    const other = await createOnce(randomUUID(), `${randomUUID()}@example.org`);
    const { id } = await createOnce(key, email);
    await system.stores.users.delete(id, undefined);
    expect(await resultsWith(email)).toEqual([]);
    expect(await resultsWith(id)).toEqual([]);
    await expect(createOnce(key, email)).rejects.toMatchObject({ code: 'GONE' });
    expect(await system.stores.users.findByEmail(email)).toBeNull();
    expect(await resultsWith(other.email)).toHaveLength(1);
  });

  it('goes also when it is a change or a resource of the account', async () => {
    const user = await system.createUser();
    const caller = { userId: user.id } as unknown as NonNullable<Parameters<TestStores['once']>[0]['caller']>;
    const rows: readonly [string, unknown][] = [
      ['setAvatar', { ...user, bio: 'A biography' } satisfies User],
      ['createWebhook', { id: 'whk_1', userId: user.id, url: 'http://127.0.0.1:9/biography' }],
      ['requestPasswordReset', { id: 'job_1', ownerId: user.id }],
    ];
    for (const [field, row] of rows) await system.once({ caller, idempotency: newKey() }, callOf(field), () => Promise.resolve(row));
    expect(await resultsWith(user.id)).toHaveLength(3);
    await system.stores.users.delete(user.id, undefined);
    expect(await resultsWith(user.id)).toEqual([]);
    expect(await resultsWith('biography')).toEqual([]);
  });
});
