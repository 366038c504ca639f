/** Accounts in PostgreSQL. Every write is one statement, so that it happens completely or not at all. */
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import { type Sql, containing, given, join, name, sql } from '@trestle/chassis/database/sql';
import type { FindDeleted } from '@trestle/chassis/loading/tombstones';
import type { RowSet, Search } from '@trestle/chassis/paging/page-query';
import { MAX_PAGE_SIZE, type Sorting, type WindowArguments } from '@trestle/chassis/paging/window';
import { createGuardedDelete, createGuardedUpdate, explainMiss } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Clock } from '@trestle/chassis/values/clock';
import { ROLES } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { UserFilter, UserOrderField } from '../generated/resolvers.ts';
import { toStoredEmail } from './email-address.ts';
import type { NewUser, User, UserChange } from './rules.ts';

export const USER_SORTING: Sorting<UserOrderField> = {
  list: 'users',
  columns: {
    ID: { column: 'id', type: 'text' },
    NAME: { column: 'name', type: 'text' },
    EMAIL: { column: 'email', type: 'text' },
    AGE: { column: 'age', type: 'int4', nullable: true },
    ROLE: { column: 'role', type: '"Role"', values: ROLES },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'ASC' },
};

/** The first page by name. */
export const FIRST_BY_NAME: WindowArguments<UserOrderField> = {
  first: MAX_PAGE_SIZE,
  orderBy: [{ field: 'NAME', direction: 'ASC' }],
};

/** All columns but the password's hash, which no read returns unless it says so. */
export const USER_COLUMNS = [
  ...['id', 'email', 'name', 'bio', 'age', 'role', 'plan', 'requestsPerMinute', 'isActive', 'createdAt', 'updatedAt', 'version'],
  ...['tokenGeneration', 'avatarKey', 'avatarType', 'avatarSize', 'avatarSha256'],
] as const;

/** Creates the Prisma client of the pool. */
export function openPrisma({ adapter }: Pick<Database, 'adapter'>) {
  return new PrismaClient({ adapter, transactionOptions: TRANSACTION_LIMITS, omit: { user: { passwordHash: true } } });
}

/** The client of the pool, or that of a transaction. */
export type UserClient = Omit<ReturnType<typeof openPrisma>, '$connect' | '$disconnect' | '$on' | '$use' | '$extends'>;

export type UserStore = ReturnType<typeof createUserStore>;

export function createUserStore({ prisma, createId, clock }: StoreOptions<UserClient>) {
  const rows = createRowStore<User, UserFilter, UserOrderField>({ prisma, sorting: USER_SORTING, rowsOf });
  const findDeleted: FindDeleted = (ids) =>
    prisma.tombstone.findMany({ where: { id: { in: [...ids] } }, select: { id: true, ownerId: true } });
  const resource = { noun: 'account', find: (where: Prisma.UserWhereInput) => prisma.user.findMany({ where }), findDeleted };

  return {
    ...rows,
    ...createTokenWrites(prisma),
    ...createPasswordWrites(prisma, clock),
    findDeleted,

    findByIds: (ids: readonly string[]): Promise<User[]> => rows.findByIds(ids, {}),

    /** Returns the account with this e-mail address, in any case. */
    async findByEmail(email: string): Promise<User | null> {
      return (await findLogin(prisma, email)).account;
    },

    /** Returns the account with this e-mail address, in any case, with the hash of its password; and the address as it is compared. */
    findForLogin: (email: string): Promise<Login> => findLogin(prisma, email),

    /** Throws CONFLICT when another account has the e-mail address. */
    create({ email, name: fullName, bio, age }: NewUser, passwordHash: string): Promise<User> {
      const now = clock();
      const data = {
        id: createId('usr'),
        email,
        name: fullName,
        bio: bio ?? null,
        age: age ?? null,
        passwordHash,
        createdAt: now,
        updatedAt: now,
      };
      return prisma.user.create({ data }).catch(rethrowDuplicate);
    },

    createAt: (id: string, user: UserChange & NewUser, passwordHash: string): Promise<User> =>
      insertAt({ prisma, clock, findDeleted }, { ...user, id, passwordHash }),

    /** Throws PRECONDITION_FAILED, GONE, NOT_FOUND or CONFLICT, and then has changed nothing. */
    update: createGuardedUpdate<User, UserChange>({
      ...resource,
      clock,
      update: (args) => prisma.user.updateManyAndReturn(args).catch(rethrowDuplicate),
    }),

    /**
     * Deletes an account and inserts its tombstone in the same statement. Returns the generation that revokes all its tokens. Throws
     * PRECONDITION_FAILED or NOT_FOUND; deleting again is NOT_FOUND (contract §2).
     */
    delete: createGuardedDelete<User, number>({ ...resource, remove: ({ id, version }) => remove(prisma, { id, version, now: clock() }) }),
  };
}

/** The data of an account that a login is checked against. */
export interface Login {
  /** The e-mail address in the case in which addresses are compared, whether an account has it or not. */
  readonly loginName: string;
  readonly account: (User & { readonly passwordHash: string | null }) | null;
}

/** Older accounts may have an address as it was typed, which is not how it is stored now. */
async function findLogin(prisma: UserClient, email: string): Promise<Login> {
  const stored = toStoredEmail(email);
  const [row] = await prisma.$queryRaw<({ loginName: string } & NonNullable<Login['account']>)[]>`
    SELECT coalesce(lower(u."email"), lower(${stored})) AS "loginName", u.* FROM (SELECT) always
    LEFT JOIN "users" u ON lower(u."email") IN (lower(${email}), lower(${stored})) ORDER BY lower(u."email") = lower(${email}) DESC LIMIT 1`;
  const { loginName, ...account } = row as NonNullable<typeof row>;
  return { loginName, account: (account.id as string | null) === null ? null : account };
}

type InsertOptions = Pick<DeletingStoreOptions<UserClient>, 'prisma' | 'clock' | 'findDeleted'>;

/**
 * Inserts an account with this id, in one statement that finds no tombstone of it. Throws GONE for an id that was deleted,
 * PRECONDITION_FAILED when a concurrent request was first, CONFLICT when another account has the e-mail address.
 */
async function insertAt(
  { prisma, clock, findDeleted }: InsertOptions,
  {
    id,
    bio,
    age,
    role,
    isActive,
    plan,
    requestsPerMinute,
    passwordHash,
    ...user
  }: UserChange & NewUser & { readonly id: string; readonly passwordHash: string },
): Promise<User> {
  const now = clock();
  const [created] = await prisma.$queryRaw<User[]>`
    INSERT INTO "users"
      ("id", "email", "name", "bio", "age", "role", "isActive", "plan", "requestsPerMinute", "passwordHash", "createdAt", "updatedAt")
    SELECT ${id}, ${user.email}, ${user.name}, ${bio ?? null}, ${age ?? null}::int, ${role ?? 'USER'}::"Role", ${isActive ?? true},
      ${plan ?? 'free'}::"Plan", ${requestsPerMinute ?? null}::int, ${passwordHash}, ${now}::timestamptz, ${now}::timestamptz
    WHERE NOT EXISTS (SELECT FROM "tombstones" WHERE "id" = ${id})
    ON CONFLICT DO NOTHING
    RETURNING ${join(USER_COLUMNS.map(name), ', ')}`;
  if (created) return created;
  const find = (where: Prisma.UserWhereInput) => prisma.user.findMany({ where });
  const miss = await explainMiss<User>({ noun: 'account', find, findDeleted }, id, { expectedVersions: [] });
  throw miss.code === 'NOT_FOUND' ? duplicate() : miss;
}

interface Removal {
  readonly id: string;
  readonly version?: { readonly in: readonly number[] } | undefined;
  readonly now: Date;
}

async function remove(prisma: UserClient, { id, version, now }: Removal): Promise<number | undefined> {
  const condition = version ? sql`AND "version" = ANY(${[...version.in]}::int[])` : sql``;
  const [deleted] = await prisma.$queryRaw<{ generation: number }[]>`
    WITH gone AS (DELETE FROM "users" WHERE "id" = ${id} ${condition} RETURNING "id", "tokenGeneration"),
      tombstone AS (INSERT INTO "tombstones" ("id", "deletedAt") SELECT "id", ${now}::timestamptz FROM gone)
    SELECT "tokenGeneration" + 1 AS "generation" FROM gone`;
  return deleted?.generation;
}

function createPasswordWrites(prisma: UserClient, clock: Clock) {
  return {
    /** Returns the hash of the account's password; null when it has none or does not exist. */
    async findPasswordHash(id: string): Promise<string | null> {
      const account = await prisma.user.findUnique({ where: { id }, select: { passwordHash: true } });
      return account?.passwordHash ?? null;
    },

    /** Replaces the hash `from` of the account's password. Returns the account; undefined when it has another hash by now. */
    async setPassword(id: string, { from, to }: { readonly from: string; readonly to: string }): Promise<User | undefined> {
      const [changed] = await prisma.user.updateManyAndReturn({
        where: { id, passwordHash: from },
        data: { passwordHash: to, version: { increment: 1 }, updatedAt: clock() },
      });
      return changed;
    },

    /** Replaces the hash of the account's password, whatever it is. Returns the account; undefined when it does not exist. */
    async resetPassword(id: string, passwordHash: string): Promise<User | undefined> {
      const [changed] = await prisma.user.updateManyAndReturn({
        where: { id, isActive: true },
        data: { passwordHash, version: { increment: 1 }, updatedAt: clock() },
      });
      return changed;
    },
  };
}

function createTokenWrites(prisma: UserClient) {
  return {
    /** Revokes one token of an account; every process gets it from the table of events. */
    async revokeToken(userId: string, tokenId: string): Promise<void> {
      await prisma.$queryRaw`SELECT "emit_revocation"(${userId}, jsonb_build_object('tokenId', ${tokenId}::text))::text`;
    },

    /** Revokes all tokens of one session of an account; every process gets it from the table of events. */
    async revokeSession(userId: string, sessionId: string): Promise<void> {
      await prisma.$queryRaw`SELECT "emit_revocation"(${userId}, jsonb_build_object('sessionId', ${sessionId}::text))::text`;
    },

    /** Revokes all tokens of an account; a trigger writes the event. Returns the new generation, or undefined without an account. */
    async revokeAllTokens(userId: string): Promise<number | undefined> {
      const [account] = await prisma.$queryRaw<{ generation: number }[]>`
        UPDATE "users" SET "tokenGeneration" = "tokenGeneration" + 1 WHERE "id" = ${userId} RETURNING "tokenGeneration" AS "generation"`;
      return account?.generation;
    },
  };
}

/** Each condition is served by an index of its own. */
function rowsOf(filter: UserFilter): RowSet {
  return { table: 'users', columns: USER_COLUMNS, where: conditionsOf(filter), search: searchOf(filter) };
}

function conditionsOf(filter: UserFilter): Sql[] {
  return [
    ...given(filter.role, (role) => sql`t."role" = ${role}::"Role"`),
    ...given(filter.isActive, (isActive) => sql`t."isActive" = ${isActive}`),
    ...given(filter.name, (fullName) => sql`t."name" = ${fullName}`),
    ...given(filter.email, (email) => sql`lower(t."email") IN (lower(${email}), lower(${toStoredEmail(email)}))`),
    ...given(filter.age, (age) => sql`t."age" = ${age}::int`),
    ...given(filter.ageGte, (age) => sql`t."age" >= ${age}::int`),
    ...given(filter.ageLte, (age) => sql`t."age" <= ${age}::int`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
}

function searchOf({ search }: UserFilter): Search | undefined {
  // A blank search filters nothing, as in other lists.
  const [condition] = given(
    search?.trim() === '' ? null : search,
    (words) => sql`(t."name" ILIKE ${containing(words)} OR t."bio" ILIKE ${containing(words)})`,
  );
  return condition && { condition };
}

function rethrowDuplicate(error: unknown): never {
  throw error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002' ? duplicate() : error;
}

function duplicate(): Error {
  return fail('CONFLICT', 'Another account has this e-mail address.', { details: [{ field: 'email', message: 'is already in use' }] });
}
