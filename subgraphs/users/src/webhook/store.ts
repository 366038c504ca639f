/** Webhooks in PostgreSQL. No read returns their secrets but that of deliveries. */
import { type Sql, given, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { type ExpectedVersions, notFound } from '@trestle/chassis/request/faults';
import { createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { fail } from '@trestle/schema/errors';
import type { WebhookOrderField } from '../generated/resolvers.ts';
import type { UserClient } from '../user/store.ts';
import { MAX_WEBHOOKS, type NewWebhook, type Webhook, type WebhookChange, type WebhookVisibility } from './rules.ts';

const WEBHOOK_SORTING: Sorting<WebhookOrderField> = {
  list: 'webhooks',
  columns: {
    ID: { column: 'id', type: 'text' },
    NAME: { column: 'name', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'ASC' },
};
const COLUMNS = [
  ...['id', 'userId', 'name', 'url', 'types', 'isEnabled', 'disabledReason', 'previousSecretExpiresAt', 'failingSince'],
  ...['createdAt', 'updatedAt', 'version'],
];
/** More deliveries that wait mean that an endpoint cannot keep up. */
const MAX_WAITING = 100_000;
const NOUN = 'webhook';

/** The webhooks of a list: those that the caller may see, and of one account when it is named. */
export interface WebhookScope {
  readonly visibility: WebhookVisibility;
  readonly userId?: string | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
}

/** A new secret, encrypted, and for how long the one before it signs, too. */
export interface SecretRotation {
  readonly id: string;
  readonly encrypted: Buffer;
  readonly overlapMs: number;
  readonly expectedVersions: ExpectedVersions;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

export function createWebhookStore({ prisma, clock, findDeleted }: Omit<DeletingStoreOptions<UserClient>, 'createId'>) {
  const rows = createRowStore<Webhook, WebhookScope, WebhookOrderField>({
    prisma,
    sorting: WEBHOOK_SORTING,
    rowsOf: (scope) => ({ table: 'webhooks', columns: COLUMNS, where: conditionsOf(scope) }),
  });
  const omit = { secret: true, previousSecret: true } as const;
  const find = (where: { id?: string }): Promise<Webhook[]> => prisma.webhook.findMany({ where, omit }) as Promise<Webhook[]>;
  const resource = { noun: NOUN, find, findDeleted };
  return {
    ...rows,

    /** Creates a webhook; call it in a transaction. Throws NOT_FOUND without an account, BUSINESS_RULE_VIOLATION for too many webhooks. */
    async create(webhook: NewWebhook & { readonly id: string; readonly encrypted: Buffer }): Promise<Webhook> {
      const { encrypted, ...data } = webhook;
      await requireRoom(prisma, data.userId);
      const now = clock();
      const created = await prisma.webhook.create({
        data: { ...data, secret: Uint8Array.from(encrypted), createdAt: now, updatedAt: now },
        omit,
      });
      return created as Webhook;
    },

    /** Throws PRECONDITION_FAILED, GONE or NOT_FOUND, and then has changed nothing. */
    update: createGuardedUpdate<Webhook, WebhookChange>({
      ...resource,
      clock,
      update: (args) => prisma.webhook.updateManyAndReturn({ ...args, omit }) as Promise<Webhook[]>,
    }),

    /** Replaces the secret. Throws what `update` throws. */
    async rotate({ id, encrypted, overlapMs, expectedVersions }: SecretRotation): Promise<Webhook> {
      const end = new Date(clock().getTime() + overlapMs);
      const [row] = await prisma.$queryRaw<Pick<Webhook, 'version'>[]>`
        UPDATE "webhooks" SET "previousSecret" = CASE WHEN ${overlapMs > 0} THEN "secret" END, "secret" = ${encrypted}::bytea,
          "previousSecretExpiresAt" = CASE WHEN ${overlapMs > 0} THEN ${end}::timestamptz END,
          "updatedAt" = ${clock()}::timestamptz, "version" = "version" + 1
        WHERE "id" = ${id} ${whereVersion(expectedVersions)} RETURNING "version"`;
      // An empty change explains why no row matched, or returns the row.
      return this.update(id, {}, { expectedVersions: row ? [row.version] : expectedVersions });
    },

    /** Deletes a webhook with its deliveries; a trigger leaves a tombstone. Throws PRECONDITION_FAILED or NOT_FOUND. */
    delete: createGuardedDelete<Webhook, true>({
      ...resource,
      async remove({ id, version }) {
        const { count } = await prisma.webhook.deleteMany({ where: { id, ...(version && { version }) } });
        return count === 1 ? true : undefined;
      },
    }),

    /** Disables webhooks for which too many deliveries wait, and forgets secrets whose overlap has ended. */
    async sweep(): Promise<void> {
      await prisma.$executeRaw`
        UPDATE "webhooks" w SET "isEnabled" = false, "disabledReason" = 'FAILURES', "updatedAt" = now(), "version" = "version" + 1
        WHERE "isEnabled" AND EXISTS (
          SELECT FROM "webhook_deliveries" d WHERE d."webhookId" = w."id" AND d."status" = 'WAITING' OFFSET ${MAX_WAITING}::int LIMIT 1)`;
      await prisma.$executeRaw`
        UPDATE "webhooks" SET "previousSecret" = NULL, "previousSecretExpiresAt" = NULL WHERE "previousSecretExpiresAt" < now()`;
    },
  };
}

/** Locks the account, so that its webhooks are counted one creation at a time. */
async function requireRoom(prisma: UserClient, userId: string): Promise<void> {
  const locked = await prisma.$queryRaw<unknown[]>`SELECT FROM "users" WHERE "id" = ${userId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound('account', userId);
  if ((await prisma.webhook.count({ where: { userId } })) >= MAX_WEBHOOKS)
    throw fail('BUSINESS_RULE_VIOLATION', `The account has ${String(MAX_WEBHOOKS)} webhooks, which is the limit. Delete one first.`);
}

function whereVersion(expected: ExpectedVersions): Sql {
  return expected ? sql`AND "version" = ANY(${[...expected]}::int[])` : sql``;
}

function conditionsOf({ visibility, userId, isEnabled }: WebhookScope): Sql[] {
  const own = visibility.all ? [] : [visibility.userId === null ? sql`false` : sql`t."userId" = ${visibility.userId}`];
  return [...own, ...given(userId, (id) => sql`t."userId" = ${id}`), ...given(isEnabled, (value) => sql`t."isEnabled" = ${value}`)];
}
