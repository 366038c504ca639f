/** Against a real PostgreSQL: deliveries beside what forbids them, and results of attempts beside each other. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestStores, openTestStores } from '../test-stores.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { Attempt, Outcome } from './rules.ts';

const DISABLE = `UPDATE "webhooks" SET "isEnabled" = false, "disabledReason" = 'OWNER', "version" = "version" + 1 WHERE "id" = $1`;
const APPEND = 'SELECT "journal_append"($1::jsonb)';
const [LEASE_MS, DISABLE_AFTER_HOURS] = [60_000, 120];
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

let count = 0;
/** Creates a webhook of a new administrator. */
async function createWebhook(): Promise<{ id: string; userId: string }> {
  const { id: userId } = await system.createUser();
  await system.run(`UPDATE "users" SET "role" = 'ADMIN' WHERE "id" = $1`, [userId]);
  const id = `whk_${String(++count)}`;
  await system.run(
    `INSERT INTO "webhooks" ("id", "userId", "name", "url", "types", "secret") VALUES ($1, $2, 'Test', 'http://127.0.0.1:9', $3, '')`,
    [id, userId, [`test${String(count)}.*`]],
  );
  return { id, userId };
}

/** Returns so many new events of another account, which the webhook that was created last selects. */
const createEvents = (number = 1) => {
  const common = { type: `test${String(count)}.created`, source: 'content', subject: 'pst_1', ownerId: 'usr_other', audience: 'OWNER' };
  return JSON.stringify(Array.from({ length: number }, () => ({ ...common, id: `evt_${randomUUID()}`, data: {}, time: new Date() })));
};
const claim = () => system.stores.deliveries.claim({ busy: [], perWebhook: 8, limit: 100, isFailing: false, leaseMs: LEASE_MS });
const statesOf = ({ id }: { id: string }) =>
  system.run<{ status: string; attempts: number; logged: number; isEnded: boolean }>(
    `SELECT "status", "attempts", jsonb_array_length("log") AS "logged", "completedAt" IS NOT NULL AS "isEnded"
     FROM "webhook_deliveries" WHERE "webhookId" = $1 ORDER BY "createdAt", "id"`,
    [id],
  );
const cancelled = { status: 'CANCELLED', attempts: 0, logged: 0, isEnded: true };

describe('a delivery that is inserted beside a change', () => {
  it('is sent when the change allows it', async () => {
    const webhook = await createWebhook();
    const rename = () => system.run(`UPDATE "webhooks" SET "name" = 'Other' WHERE "id" = $1`, [webhook.id]);
    await system.duringTransaction(APPEND, [createEvents()], rename);
    expect(await claim()).toMatchObject([{ webhookId: webhook.id, attempts: 1, event: { audience: 'OWNER', time: expect.any(Date) } }]);
    expect(await statesOf(webhook)).toEqual([{ status: 'WAITING', attempts: 1, logged: 0, isEnded: false }]);
  });

  it('is cancelled when its webhook was disabled, however many there are', async () => {
    const webhook = await createWebhook();
    await system.duringTransaction(APPEND, [createEvents(20)], () => system.run(DISABLE, [webhook.id]));
    expect(await claim()).toEqual([]);
    expect(await statesOf(webhook)).toEqual(Array.from({ length: 20 }, () => cancelled));
  });

  it.each([
    ['has another role', `UPDATE "users" SET "role" = 'USER' WHERE "id" = $1`],
    ['was deactivated', `UPDATE "users" SET "isActive" = false WHERE "id" = $1`],
  ])('is cancelled when its account %s', async (_, change) => {
    const webhook = await createWebhook();
    await system.duringTransaction(APPEND, [createEvents()], () => system.run(change, [webhook.userId]));
    expect(await claim()).toEqual([]);
    expect(await statesOf(webhook)).toEqual([cancelled]);
  });

  it('is cancelled when it is a ping or a replay of a webhook that was disabled', async () => {
    const webhook = await createWebhook();
    await system.run(APPEND, [createEvents()]);
    const [first] = await claim();
    await system.run(DISABLE, [webhook.id]);
    await system.stores.deliveries.ping(webhook.id);
    await system.stores.deliveries.replay(webhook.id, first?.id ?? '');
    expect(await claim()).toEqual([]);
    expect((await statesOf(webhook)).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  });
});

describe('the result of an attempt', () => {
  const attempt = { status: 410 } as Attempt;
  const complete = (delivery: ClaimedDelivery, outcome: Outcome) =>
    system.stores.deliveries.complete(delivery, { attempt, outcome, disableAfterHours: DISABLE_AFTER_HOURS });
  const claimOf = async (number: number) => {
    await system.run(APPEND, [createEvents(number)]);
    return claim();
  };

  it('is written for all requests in flight of an endpoint that answers 410 to all of them', async () => {
    for (let round = 0; round < 5; round++) {
      const webhook = await createWebhook();
      const claimed = await claimOf(8);
      expect(await Promise.all(claimed.map((delivery) => complete(delivery, { kind: 'gone' })))).toEqual(claimed.map(() => true));
      expect(await statesOf(webhook)).toEqual(claimed.map(() => ({ status: 'FAILED', attempts: 1, logged: 1, isEnded: true })));
      const [row] = await system.run(`SELECT "isEnabled", "disabledReason", "version" FROM "webhooks" WHERE "id" = $1`, [webhook.id]);
      expect(row).toEqual({ isEnabled: false, disabledReason: 'GONE', version: 2 });
    }
  });

  it.each([
    ['succeeded', { kind: 'succeeded' }, 'SUCCEEDED'],
    ['retry', { kind: 'retry', delayMs: 1000 }, 'CANCELLED'],
  ] as const)('is written when its webhook is disabled meanwhile: %s', async (_, outcome, status) => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(1)) as [ClaimedDelivery];
    expect(await system.duringTransaction(DISABLE, [webhook.id], () => complete(delivery, outcome))).toBe(true);
    expect(await statesOf(webhook)).toEqual([{ status, attempts: 1, logged: 1, isEnded: true }]);
    // Only once: the lease has ended.
    expect(await complete(delivery, outcome)).toBe(false);
    await system.stores.deliveries.release(delivery);
    expect(await claim()).toEqual([]);
  });

  it('of a first success after failures does not wait for an owner who disables the webhook, nor the owner for it', async () => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(1)) as [ClaimedDelivery];
    await system.run(`UPDATE "webhooks" SET "failingSince" = now() WHERE "id" = $1`, [webhook.id]);
    expect(await system.duringTransaction(DISABLE, [webhook.id], () => complete(delivery, { kind: 'succeeded' }))).toBe(true);
    expect(await statesOf(webhook)).toMatchObject([{ status: 'SUCCEEDED' }]);
  });

  it('of a request that is given back after the cancellation changes nothing', async () => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(1)) as [ClaimedDelivery];
    await system.run(DISABLE, [webhook.id]);
    await system.stores.deliveries.release(delivery);
    expect(await statesOf(webhook)).toEqual([{ status: 'CANCELLED', attempts: 1, logged: 0, isEnded: true }]);
  });

  it('disables a webhook that has failed for days when a delivery fails for good, and cancels its other deliveries', async () => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(2)) as [ClaimedDelivery];
    await system.run(`UPDATE "webhooks" SET "failingSince" = now() - interval '121 hours' WHERE "id" = $1`, [webhook.id]);
    expect(await complete(delivery, { kind: 'failed' })).toBe(true);
    expect((await statesOf(webhook)).map(({ status }) => status).sort()).toEqual(['CANCELLED', 'FAILED']);
  });

  it('disables no webhook whose delivery is tried again: the clock of the database may have jumped by days', async () => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(1)) as [ClaimedDelivery];
    await system.run(`UPDATE "webhooks" SET "failingSince" = now() - interval '121 hours' WHERE "id" = $1`, [webhook.id]);
    expect(await complete(delivery, { kind: 'retry', delayMs: 1000 })).toBe(true);
    expect(await statesOf(webhook)).toEqual([{ status: 'WAITING', attempts: 1, logged: 1, isEnded: false }]);
    expect(await system.run(`SELECT "isEnabled" FROM "webhooks" WHERE "id" = $1`, [webhook.id])).toEqual([{ isEnabled: true }]);
  });

  it.each([
    ['gone', { kind: 'gone' }],
    ['retry', { kind: 'retry', delayMs: 1000 }],
  ] as const)('says nothing of an address that the webhook was given meanwhile: %s', async (_, outcome) => {
    const webhook = await createWebhook();
    const [delivery] = (await claimOf(1)) as [ClaimedDelivery];
    await system.run(`UPDATE "webhooks" SET "url" = 'http://127.0.0.1:10' WHERE "id" = $1`, [webhook.id]);
    expect(await complete(delivery, outcome)).toBe(true);
    const [row] = await system.run(`SELECT "isEnabled", "failingSince" FROM "webhooks" WHERE "id" = $1`, [webhook.id]);
    expect(row).toEqual({ isEnabled: true, failingSince: null });
  });
});
