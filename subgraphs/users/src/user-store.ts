/** Accounts in PostgreSQL. Every write is one statement, so that it happens whole or not at all. */
import type { Clock } from '@trestle/chassis/values/clock';
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { CreateId } from '@trestle/chassis/values/ids';
import { type Sql, containing, countRows, given, selectPage, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import { ROLES } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import { Prisma, PrismaClient } from './generated/prisma/client.ts';
import type { UserFilter, UserOrderField } from './generated/resolvers.ts';
import type { NewUser, User, UserChange } from './user.ts';

export const USER_SORTING: Sorting<UserOrderField> = {
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

/** Versions that a write accepts; undefined accepts any, an empty list none. */
export type ExpectedVersions = readonly number[] | null | undefined;

export type UserStore = ReturnType<typeof createUserStore>;

interface Parts {
  readonly createId: CreateId;
  readonly clock: Clock;
}

/** The store on the database, and what makes its writes happen once for an Idempotency-Key. */
export function openUserStore({ database, ...parts }: Parts & { readonly database: Database }) {
  const prisma = openPrisma(database);
  const idempotency = createIdempotency<UserClient, UserStore>({
    prisma,
    createStores: (client) => createUserStore({ ...parts, prisma: client }),
    clock: parts.clock,
  });
  return { idempotency, close: () => prisma.$disconnect() };
}

/** No query gives a password's hash or a plan unless it says so. */
function openPrisma(database: Database) {
  return new PrismaClient({
    adapter: database.adapter,
    transactionOptions: TRANSACTION_LIMITS,
    omit: { user: { passwordHash: true, plan: true } },
  });
}

/** The pool's client, or that of a transaction. */
type UserClient = Omit<ReturnType<typeof openPrisma>, '$connect' | '$disconnect' | '$on' | '$use' | '$extends' | '$transaction'>;

function createUserStore({ prisma, createId, clock }: Parts & { readonly prisma: UserClient }) {
  /** Says why a guarded write found no row. */
  async function explainMiss(id: string): Promise<Error> {
    if (await prisma.user.findUnique({ where: { id }, select: { id: true } })) {
      return fail('PRECONDITION_FAILED', 'The account has another version than expected');
    }
    const gone = await prisma.tombstone.findUnique({ where: { id } });
    return gone ? fail('GONE', 'The account was deleted') : fail('NOT_FOUND', 'There is no such account');
  }

  return {
    findByIds: (ids: readonly string[]): Promise<User[]> => prisma.user.findMany({ where: { id: { in: [...ids] } } }),

    /** Which of these ids belonged to accounts that were deleted. */
    findDeleted: (ids: readonly string[]): Promise<{ id: string }[]> =>
      prisma.tombstone.findMany({ where: { id: { in: [...ids] } }, select: { id: true } }),

    /** The account with this e-mail address, whatever its case, and the hash of its password. */
    async findForLogin(email: string): Promise<(User & { readonly passwordHash: string | null }) | null> {
      const [user] = await prisma.$queryRaw<
        (User & { passwordHash: string | null })[]
      >`SELECT * FROM "users" WHERE lower("email") = lower(${email})`;
      return user ?? null;
    },

    list: (filter: UserFilter, window: Window): Promise<User[]> =>
      prisma.$queryRaw<User[]>(selectPage({ table: 'users', where: conditions(filter), search: searchOf(filter), window })),

    async count(filter: UserFilter): Promise<number> {
      const [row] = await prisma.$queryRaw<{ count: number }[]>(
        countRows({ table: 'users', where: conditions(filter), search: searchOf(filter) }),
      );
      return row?.count ?? 0;
    },

    /** Throws CONFLICT when another account has the e-mail address. */
    create({ email, name, bio, age }: NewUser, passwordHash: string): Promise<User> {
      const now = clock();
      const data = { id: createId('usr'), email, name, bio: bio ?? null, age: age ?? null, passwordHash, createdAt: now, updatedAt: now };
      return prisma.user.create({ data }).catch(rethrowDuplicate);
    },

    /**
     * Makes an account at an id of somebody's choice, in one statement that finds no tombstone there. Throws GONE for an id that was
     * used, PRECONDITION_FAILED when somebody else was first, CONFLICT when another account has the e-mail address.
     */
    async createAt(id: string, { bio, age, role, isActive, ...user }: UserChange & NewUser, passwordHash: string): Promise<User> {
      const now = clock();
      const [made] = await prisma.$queryRaw<User[]>`
        INSERT INTO "users" ("id", "email", "name", "bio", "age", "role", "isActive", "passwordHash", "createdAt", "updatedAt")
        SELECT ${id}, ${user.email}, ${user.name}, ${bio ?? null}, ${age ?? null}::int, ${role ?? 'USER'}::"Role", ${isActive ?? true},
          ${passwordHash}, ${now}::timestamptz, ${now}::timestamptz
        WHERE NOT EXISTS (SELECT FROM "tombstones" WHERE "id" = ${id})
        ON CONFLICT DO NOTHING
        RETURNING "id", "email", "name", "bio", "age", "role", "isActive", "createdAt", "updatedAt", "version", "tokenGeneration"`;
      if (made) return made;
      const miss = await explainMiss(id);
      throw 'code' in miss && miss.code === 'NOT_FOUND' ? duplicate() : miss;
    },

    /** Throws PRECONDITION_FAILED, GONE, NOT_FOUND or CONFLICT, and then has changed nothing. */
    async update(id: string, change: UserChange, expectedVersions: ExpectedVersions): Promise<User> {
      const where = { id, ...(expectedVersions && { version: { in: [...expectedVersions] } }) };
      const changes = Object.keys(change).length > 0;
      const data = { ...change, updatedAt: clock(), version: { increment: 1 } };
      const [user] = changes
        ? await prisma.user.updateManyAndReturn({ where, data }).catch(rethrowDuplicate)
        : await prisma.user.findMany({ where });
      if (!user) throw await explainMiss(id);
      return user;
    },

    /**
     * Leaves a tombstone in the same statement. Gives the generation that tokens would be of now. Throws PRECONDITION_FAILED or
     * NOT_FOUND; deleting again is NOT_FOUND (contract §2).
     */
    async delete(id: string, expectedVersions: ExpectedVersions): Promise<number> {
      const version = expectedVersions ? sql`AND "version" = ANY(${[...expectedVersions]}::int[])` : sql``;
      const [deleted] = await prisma.$queryRaw<{ generation: number }[]>`
        WITH gone AS (DELETE FROM "users" WHERE "id" = ${id} ${version} RETURNING "id", "tokenGeneration"),
          tombstone AS (INSERT INTO "tombstones" ("id", "deletedAt") SELECT "id", ${clock()}::timestamptz FROM gone)
        SELECT "tokenGeneration" + 1 AS "generation" FROM gone`;
      if (deleted) return deleted.generation;
      throw await explainMiss(id).then((miss) =>
        'code' in miss && miss.code === 'GONE' ? fail('NOT_FOUND', 'There is no such account') : miss,
      );
    },

    /** Ends one token of an account; told to every process by the table of events. */
    async revokeToken(userId: string, tokenId: string): Promise<void> {
      await prisma.$queryRaw`SELECT "tell"('tokensRevoked', ${userId}, jsonb_build_object('tokenId', ${tokenId}::text))::text`;
    },

    /** Ends all tokens that were given to an account so far; told by a trigger. Gives the new generation, or undefined without an account. */
    async revokeAllTokens(userId: string): Promise<number | undefined> {
      const [account] = await prisma.$queryRaw<{ generation: number }[]>`
        UPDATE "users" SET "tokenGeneration" = "tokenGeneration" + 1 WHERE "id" = ${userId} RETURNING "tokenGeneration" AS "generation"`;
      return account?.generation;
    },
  };
}

/** The conditions of a filter; each is served by an index of its own. */
function conditions(filter: UserFilter): Sql[] {
  return [
    ...given(filter.role, (role) => sql`t."role" = ${role}::"Role"`),
    ...given(filter.isActive, (isActive) => sql`t."isActive" = ${isActive}`),
    ...given(filter.name, (name) => sql`t."name" = ${name}`),
    ...given(filter.email, (email) => sql`lower(t."email") = lower(${email})`),
    ...given(filter.age, (age) => sql`t."age" = ${age}::int`),
    ...given(filter.ageGte, (age) => sql`t."age" >= ${age}::int`),
    ...given(filter.ageLte, (age) => sql`t."age" <= ${age}::int`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
}

function searchOf({ search }: UserFilter): Sql | undefined {
  return given(search, (text) => sql`(t."name" ILIKE ${containing(text)} OR t."bio" ILIKE ${containing(text)})`)[0];
}

function rethrowDuplicate(error: unknown): never {
  throw error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002' ? duplicate() : error;
}

function duplicate(): Error {
  return fail('CONFLICT', 'Another account has this e-mail address', { details: [{ field: 'email', message: 'is taken' }] });
}
