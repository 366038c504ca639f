/** API keys in PostgreSQL. Keys are found by their HMAC; the keys themselves are not stored. */
import { type Sql, given, join, name, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { type ExpectedVersions, notFound } from '@trestle/chassis/request/faults';
import { createGuardedDelete, createGuardedUpdate, explainMiss } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Plan, Role } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import type { ApiKeyOrderField } from '../generated/resolvers.ts';
import type { UserClient } from '../user/store.ts';
import { type ApiKey, type ApiKeyChange, type KeyVisibility, MAX_API_KEYS, type NewApiKey } from './rules.ts';

/** How long the owner sees an expired key in the list before it is swept. */
const EXPIRED_DAYS = 30;
const SWEEP_ROWS = 1000;
/** Uses of a key from one network within this time are one entry of the audit trail. */
const USE_EVENT_MINUTES = 15;

export const API_KEY_SORTING: Sorting<ApiKeyOrderField> = {
  list: 'api-keys',
  columns: {
    ID: { column: 'id', type: 'text' },
    NAME: { column: 'name', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'ASC' },
};

/** All columns but the hash, which no read returns. */
const COLUMNS = [
  ...['id', 'userId', 'name', 'lastFour', 'scopes', 'isAllowedInUrl', 'expiresAt', 'lastUsedAt', 'successorId'],
  ...['createdAt', 'updatedAt', 'version'],
];
const ROW = join(COLUMNS.map(name), ', ');
const NOUN = 'API key';

/** The keys of a list: those that the caller may see, and of one account when it is named. */
export interface ApiKeyScope {
  readonly visibility: KeyVisibility;
  readonly userId?: string;
}

/** The hash of a new key, and how its owner recognizes it. */
export interface HashedKey {
  readonly hash: Buffer;
  readonly lastFour: string;
}

/** A key in use: what a token for it contains. */
export interface UsedKey {
  readonly id: string;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly isAllowedInUrl: boolean;
  readonly expiresAt: Date | null;
  readonly role: Role;
  readonly plan: Plan;
  readonly requestsPerMinute: number | null;
  readonly tokenGeneration: number;
  /** Whether the audit trail has no use of the key from this network within the last 15 minutes. */
  readonly isNews: boolean;
}

/** How a key is replaced. */
export interface Rotation {
  readonly id: string;
  readonly successor: NewApiKey & HashedKey;
  readonly overlapMs: number;
  readonly expectedVersions: ExpectedVersions;
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;

export function createApiKeyStore({ prisma, createId, clock, findDeleted }: DeletingStoreOptions<UserClient>) {
  const rowsOf = (scope: ApiKeyScope) => ({ table: 'api_keys', columns: COLUMNS, where: conditionsOf(scope) });
  const rows = createRowStore<ApiKey, ApiKeyScope, ApiKeyOrderField>({ prisma, sorting: API_KEY_SORTING, rowsOf });
  const omit = { hash: true } as const;
  const find = (where: { id?: string }): Promise<ApiKey[]> => prisma.apiKey.findMany({ where, omit });
  const resource = { noun: NOUN, find, findDeleted };

  return {
    ...rows,

    /**
     * Creates a key; call it in a transaction. When the account has 50 keys, those of them that have expired are deleted. Throws NOT_FOUND
     * without an account, BUSINESS_RULE_VIOLATION for too many keys.
     */
    async create(key: NewApiKey & HashedKey): Promise<ApiKey> {
      const now = clock();
      await makeRoom(prisma, { userId: key.userId, now });
      return insert(prisma, { ...key, id: createId('key'), now });
    },

    /** Throws PRECONDITION_FAILED, GONE or NOT_FOUND, and then has changed nothing. */
    update: createGuardedUpdate<ApiKey, ApiKeyChange>({
      ...resource,
      clock,
      update: (args) => prisma.apiKey.updateManyAndReturn({ ...args, omit }),
    }),

    /**
     * Inserts the successor of a key, and lets the old key expire after the overlap, or deletes it when that is 0; call it in a transaction.
     * Throws PRECONDITION_FAILED, GONE, NOT_FOUND, or BUSINESS_RULE_VIOLATION for a key that was replaced before, or for too many keys.
     */
    async rotate(rotation: Rotation): Promise<ApiKey> {
      const { id, successor, overlapMs } = rotation;
      const now = clock();
      await makeRoom(prisma, { userId: successor.userId, now });
      const successorId = createId('key');
      const current = await retire(prisma, { ...rotation, successorId, now });
      if (!current) {
        const rule = { where: {}, otherwise: `API key ${id} was replaced or has expired.` };
        throw await explainMiss(resource, id, { expectedVersions: rotation.expectedVersions, rule });
      }
      if (overlapMs === 0) await remove(prisma, { id });
      return insert(prisma, { ...successor, ...current, id: successorId, now });
    },

    /**
     * Deletes a key; triggers insert its tombstone and write the revocation of its tokens. Returns the id of its account. Throws
     * PRECONDITION_FAILED or NOT_FOUND; deleting again is NOT_FOUND (contract §2).
     */
    delete: createGuardedDelete<ApiKey, string>({
      ...resource,
      remove: ({ id, version }) => remove(prisma, { id, version }),
    }),

    /**
     * Finds the key with this hash that has not expired and whose account is active, and notes its use, at most once a minute. `address` is
     * the truncated address of the client, for the audit trail.
     */
    use: (hash: Buffer, address: string | null): Promise<UsedKey | undefined> => use(prisma, { hash, address, now: clock() }),

    /** Deletes keys that expired 30 days ago, also by the clock of the database, in batches. */
    async sweep(): Promise<void> {
      const end = sql`least(${clock()}::timestamptz, now()) - make_interval(days => ${EXPIRED_DAYS}::int)`;
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;)
        deleted = await removeExpired(prisma, { condition: sql`"expiresAt" <= ${end}`, limit: SWEEP_ROWS });
    },
  };
}

/** Locks the account, so that its keys are counted one creation at a time; a full account loses the keys that have expired. */
async function makeRoom(prisma: UserClient, { userId, now }: { readonly userId: string; readonly now: Date }): Promise<void> {
  const locked = await prisma.$queryRaw<unknown[]>`SELECT FROM "users" WHERE "id" = ${userId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound('account', userId);
  const count = await prisma.apiKey.count({ where: { userId } });
  if (count < MAX_API_KEYS) return;
  const condition = sql`"userId" = ${userId} AND "expiresAt" <= least(${now}::timestamptz, now())`;
  if (count - (await removeExpired(prisma, { condition, limit: MAX_API_KEYS })) >= MAX_API_KEYS)
    throw fail('BUSINESS_RULE_VIOLATION', `The account has ${String(MAX_API_KEYS)} API keys, which is the limit. Revoke one first.`);
}

interface ExpiredKeys {
  readonly condition: Sql;
  readonly limit: number;
}

/** Deletes expired keys, the first to expire first; a trigger leaves their tombstones. Returns their number. */
function removeExpired(prisma: UserClient, { condition, limit }: ExpiredKeys): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM "api_keys" WHERE "id" IN (
      SELECT "id" FROM "api_keys" WHERE ${condition} ORDER BY "expiresAt", "id" LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
    )`;
}

interface Use {
  readonly hash: Buffer;
  readonly address: string | null;
  readonly now: Date;
}

async function use(prisma: UserClient, { hash, address, now }: Use): Promise<UsedKey | undefined> {
  const [used] = await prisma.$queryRaw<UsedKey[]>`
    WITH found AS (
      SELECT k."id", k."userId", k."scopes", k."isAllowedInUrl", k."expiresAt", u."role", u."plan", u."requestsPerMinute", u."tokenGeneration"
      FROM "api_keys" k JOIN "users" u ON u."id" = k."userId"
      WHERE k."hash" = ${hash}::bytea AND u."isActive" AND (k."expiresAt" IS NULL OR k."expiresAt" > ${now}::timestamptz)
    ), noted AS (
      UPDATE "api_keys" k SET "lastUsedAt" = ${now}::timestamptz FROM found
      WHERE k."id" = found."id" AND (k."lastUsedAt" IS NULL OR k."lastUsedAt" <= ${now}::timestamptz - interval '1 minute')
      RETURNING k."id"
    )
    SELECT *, EXISTS (SELECT FROM noted) AND NOT EXISTS (
      SELECT FROM "security_events" e
      WHERE e."userId" = found."userId" AND e."type" = 'API_KEY_USED' AND e."subject" = found."id"
        AND e."address" IS NOT DISTINCT FROM ${address}::text
        AND e."createdAt" > now() - make_interval(mins => ${USE_EVENT_MINUTES}::int)
    ) AS "isNews" FROM found`;
  return used;
}

async function insert(prisma: UserClient, key: NewApiKey & HashedKey & { readonly id: string; readonly now: Date }): Promise<ApiKey> {
  const { id, userId, hash, lastFour, scopes, isAllowedInUrl, expiresAt, now } = key;
  const [created] = await prisma.$queryRaw<ApiKey[]>`
    INSERT INTO "api_keys"
      ("id", "userId", "name", "hash", "lastFour", "scopes", "isAllowedInUrl", "expiresAt", "createdAt", "updatedAt")
    VALUES (${id}, ${userId}, ${key.name}, ${hash}::bytea, ${lastFour}, ${[...scopes]}::text[], ${isAllowedInUrl}, ${expiresAt}::timestamptz,
      ${now}::timestamptz, ${now}::timestamptz)
    RETURNING ${ROW}`;
  return created as ApiKey;
}

/**
 * Lets a key expire after the overlap, unless it expires earlier. Returns what its successor has in common with it, as of now: a change
 * may have been committed since the key was read. Undefined for a key that is gone or was replaced.
 */
async function retire(
  prisma: UserClient,
  { id, overlapMs, expectedVersions, successorId, now }: Rotation & { readonly successorId: string; readonly now: Date },
): Promise<Pick<ApiKey, 'name' | 'isAllowedInUrl'> | undefined> {
  const end = new Date(now.getTime() + overlapMs);
  const [changed] = await prisma.$queryRaw<Pick<ApiKey, 'name' | 'isAllowedInUrl'>[]>`
    UPDATE "api_keys" SET "successorId" = ${successorId}, "expiresAt" = least("expiresAt", ${end}::timestamptz),
      "updatedAt" = ${now}::timestamptz, "version" = "version" + 1
    WHERE "id" = ${id} AND "successorId" IS NULL AND ("expiresAt" IS NULL OR "expiresAt" > ${now}::timestamptz) ${whereVersion(expectedVersions)}
    RETURNING "name", "isAllowedInUrl"`;
  return changed;
}

interface Removal {
  readonly id: string;
  readonly version?: { readonly in: readonly number[] } | undefined;
}

async function remove(prisma: UserClient, { id, version }: Removal): Promise<string | undefined> {
  const [deleted] = await prisma.$queryRaw<{ userId: string }[]>`
    DELETE FROM "api_keys" WHERE "id" = ${id} ${whereVersion(version?.in)} RETURNING "userId"`;
  return deleted?.userId;
}

function whereVersion(expected: ExpectedVersions): Sql {
  return expected ? sql`AND "version" = ANY(${[...expected]}::int[])` : sql``;
}

function conditionsOf({ visibility, userId }: ApiKeyScope): Sql[] {
  const own = visibility.all ? [] : [visibility.userId === null ? sql`false` : sql`t."userId" = ${visibility.userId}`];
  return [...own, ...given(userId, (id) => sql`t."userId" = ${id}`)];
}
