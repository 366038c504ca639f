/** A row that stays locked, and connections that are killed: the responses of both APIs, and which requests still succeed (spec §7.3, §8). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  bob = await stack.createAccount('Bob');
});
afterAll(() => stack.stop());

const WRITERS = 20;
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;

describe('requests while a row of an account is locked', () => {
  it('get 503 with Retry-After and change nothing when they write that row; reads and /readyz are served', async () => {
    // The lock is held until the sleeping session is cancelled.
    const locking = stack.sql('users', `WITH held AS (SELECT id FROM users WHERE id = $1 FOR UPDATE) SELECT pg_sleep(60)::text FROM held`, [
      ada.id,
    ]);
    const held = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'WITH held%' AND wait_event = 'PgSleep'`;
    while ((await stack.sql('users', held)).length === 0);
    const rename = (account: Account, name: string) =>
      stack.call('PATCH', `/v1/users/${account.id}`, { token: account.token, body: { name } });
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, i) => rename(ada, `Ada ${String(i)}`)));
    const reads = await Promise.all([ada, bob].map(({ id }) => stack.call('GET', `/v1/users/${id}`)));
    expect(reads.map(({ status }) => status)).toEqual([200, 200]);
    expect((await fetch(`${stack.subgraphs.users.url}/readyz`)).status).toBe(200);
    const answers = await writing;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(answers[0]?.headers.get('retry-after')).toBe('1');
    expect(answers[0]?.body).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    await stack.sql(
      'users',
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'WITH held%' AND wait_event = 'PgSleep'`,
    );
    await locking.catch(() => undefined);
    expect((await stack.call('GET', `/v1/users/${ada.id}`)).body).toMatchObject({ name: 'Ada' });
    expect((await rename(ada, 'Ada again')).status).toBe(200);
  });
});

describe('requests while every connection to a database is killed', () => {
  it('get 200 or 503, and 200 again afterwards', async () => {
    for (let round = 0; round < 3; round++) {
      const [answers] = await Promise.all([
        Promise.all(Array.from({ length: 10 }, () => stack.call('GET', `/v1/users/${bob.id}`))),
        stack.sql('users', TERMINATE),
      ]);
      for (const { status } of answers) expect([200, 503]).toContain(status);
    }
    let status = 0;
    while (status !== 200) ({ status } = await stack.call('GET', `/v1/users/${bob.id}`));
    expect((await fetch(`${stack.subgraphs.users.url}/readyz`)).status).toBe(200);
  });
});
