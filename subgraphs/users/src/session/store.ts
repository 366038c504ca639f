/** Sessions in PostgreSQL. Their times are those of the database, so that all processes agree about them. */
import { type Sql, join, name, sql } from '@trestle/chassis/database/sql';
import { type RowStore, type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { User } from '../user/rules.ts';
import { USER_COLUMNS, type UserClient } from '../user/store.ts';
import { REFRESH_TOKEN_SECONDS } from './refresh-cookie.ts';

/** A session that has not ended. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly device: string;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

/** The client of a request as its session keeps it. */
export interface SessionClient {
  readonly device: string;
  readonly address: string | null;
  /** The pseudonym of the client's network. */
  readonly network: string | null;
}

/** An account with the session that its next access token belongs to. */
export type SessionAccount = User & { readonly sessionId: string };

/** What a session needs of its account. */
export type LoginAccount = Pick<User, 'id' | 'tokenGeneration'>;

/** A session that has begun. */
export interface BegunSession {
  readonly id: string;
  /** The ids of the sessions that have ended for it. */
  readonly ended: readonly string[];
}

/** A refresh token that was used before. */
export interface TokenReuse {
  readonly sessionId: string;
  readonly userId: string;
  /** Whether it was exchanged at most 10 seconds ago: by another tab, or by a request whose response was lost. */
  readonly isRecent: boolean;
}

/** Seconds for which a second use of a refresh token is taken for a race of the session's own client. */
const RACE_SECONDS = 10;
/** Sessions of one account; beginning one more ends the one that was used least recently. */
const MAX_SESSIONS = 500;
/** Of one session: ten days of refreshing every 15 minutes. An older one is refused, and does not end the session. */
const MAX_USED_TOKENS = 1000;
const SWEEP_ROWS = 1000;
const COLUMNS = ['id', 'userId', 'device', 'address', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;
const NOW = sql`date_trunc('second', now())`;
const EXPIRY = sql`date_trunc('second', now()) + make_interval(secs => ${REFRESH_TOKEN_SECONDS}::int)`;

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore({ prisma, createId }: Pick<StoreOptions<UserClient>, 'prisma' | 'createId'>) {
  return {
    ...createSessionReads(prisma),

    /**
     * Begins a session of an account as its login has read it. Returns undefined, and writes nothing, when the account was deleted or
     * deactivated since it was read, or when its tokens were revoked, as a new password does.
     */
    begin: (account: LoginAccount, tokenHash: Buffer, client: SessionClient): Promise<BegunSession | undefined> =>
      beginSession(prisma, account, { id: createId('ses'), tokenHash, ...client }),

    /**
     * Exchanges a refresh token for the next one, in one statement: of concurrent requests with the same token exactly one succeeds.
     * Returns the account, or undefined when the token is not the current one of a live session of an active account.
     */
    async rotate(used: Buffer, next: Buffer, client: SessionClient): Promise<SessionAccount | undefined> {
      const [account] = await prisma.$queryRaw<SessionAccount[]>(sql`
        WITH rotated AS (
          UPDATE "sessions" s SET "tokenHash" = ${next}::bytea, "lastUsedAt" = ${NOW}, "expiresAt" = ${EXPIRY},
            "device" = ${client.device}, "address" = ${client.address}, "network" = ${client.network}
          FROM "users" u
          WHERE s."tokenHash" = ${used} AND s."endedAt" IS NULL AND s."expiresAt" > now() AND u."id" = s."userId" AND u."isActive"
          RETURNING s."id" AS "sessionId", ${join(
            USER_COLUMNS.map((column) => sql`u.${name(column)}`),
            ', ',
          )}
        ), kept AS (
          INSERT INTO "used_refresh_tokens" ("hash", "sessionId", "usedAt") SELECT ${used}::bytea, "sessionId", clock_timestamp() FROM rotated
        ), forgotten AS (
          DELETE FROM "used_refresh_tokens" WHERE "hash" IN (
            SELECT t."hash" FROM "used_refresh_tokens" t JOIN rotated r ON r."sessionId" = t."sessionId"
            ORDER BY t."usedAt" DESC OFFSET ${MAX_USED_TOKENS - 1}::int
          )
        )
        SELECT * FROM rotated`);
      return account;
    },

    /** Returns the live session that a used refresh token belonged to. */
    async findReuse(used: Buffer): Promise<TokenReuse | undefined> {
      const [reuse] = await prisma.$queryRaw<TokenReuse[]>(sql`
        SELECT t."sessionId", s."userId", t."usedAt" > clock_timestamp() - make_interval(secs => ${RACE_SECONDS}::int) AS "isRecent"
        FROM "used_refresh_tokens" t JOIN "sessions" s ON s."id" = t."sessionId"
        WHERE t."hash" = ${used} AND s."endedAt" IS NULL AND s."expiresAt" > now()`);
      return reuse;
    },

    /** Ends a live session of an account. Returns whether there was one. */
    async end(userId: string, id: string): Promise<boolean> {
      return (await endWhere(prisma, sql`"userId" = ${userId} AND "id" = ${id}`)).length > 0;
    },

    /** Ends the live sessions of an account, but not the one with the id `kept`. Returns the ids of those that ended. */
    endAll: (userId: string, kept: string | null = null): Promise<string[]> =>
      endWhere(prisma, sql`"userId" = ${userId} AND "id" IS DISTINCT FROM ${kept}::text`),

    /** Keeps one session when the transaction changes the password or the e-mail address, which ends the others (see the migrations). */
    async keepDuringTransaction(id: string): Promise<void> {
      await prisma.$executeRaw(sql`SELECT set_config('trestle.kept_session', ${id}, true)`);
    },

    /** Deletes sessions that have expired, with their used tokens, in batches. */
    async sweep(): Promise<void> {
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;)
        deleted = await prisma.$executeRaw(sql`
          DELETE FROM "sessions" WHERE "id" IN (
            SELECT "id" FROM "sessions" WHERE "expiresAt" <= now() ORDER BY "expiresAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED
          )`);
    },
  };
}

const IS_LIVE = sql`"endedAt" IS NULL AND "expiresAt" > now()`;

interface NewSession extends SessionClient {
  readonly id: string;
  readonly tokenHash: Buffer;
}

/** FOR SHARE waits for a change of the account that is not committed yet, and makes a later one wait, whose trigger then ends this session too. */
async function beginSession(
  prisma: UserClient,
  { id: userId, tokenGeneration }: LoginAccount,
  { id, tokenHash, device, address, network }: NewSession,
): Promise<BegunSession | undefined> {
  const [begun] = await prisma.$queryRaw<BegunSession[]>(sql`
    WITH begun AS (
      INSERT INTO "sessions" ("id", "userId", "tokenHash", "device", "address", "network", "createdAt", "lastUsedAt", "expiresAt")
      SELECT ${id}, "id", ${tokenHash}::bytea, ${device}, ${address}, ${network}, ${NOW}, ${NOW}, ${EXPIRY}
      FROM "users" WHERE "id" = ${userId} AND "tokenGeneration" = ${tokenGeneration}::int AND "isActive" FOR SHARE
      RETURNING "id"
    ), ended AS (
      UPDATE "sessions" SET "endedAt" = ${NOW} WHERE "id" IN (
        SELECT "id" FROM "sessions" WHERE "userId" = ${userId} AND ${IS_LIVE} AND EXISTS (SELECT FROM begun)
        ORDER BY "lastUsedAt" DESC, "id" DESC OFFSET ${MAX_SESSIONS - 1}::int
      ) RETURNING "id"
    )
    SELECT "id", ARRAY(SELECT "id" FROM ended) AS "ended" FROM begun`);
  return begun;
}

function createSessionReads(prisma: UserClient): Pick<RowStore<Session, { readonly userId: string }, 'CREATED_AT'>, 'connection'> {
  return createRowStore<Session, { readonly userId: string }, 'CREATED_AT'>({
    prisma,
    sorting: {
      list: 'sessions',
      columns: { CREATED_AT: { column: 'createdAt', type: 'timestamptz' } },
      default: { field: 'CREATED_AT', direction: 'DESC' },
    },
    rowsOf: ({ userId }) => ({
      table: 'sessions',
      columns: COLUMNS,
      where: [sql`t."userId" = ${userId}`, sql`t."endedAt" IS NULL`, sql`t."expiresAt" > now()`],
    }),
  });
}

async function endWhere(prisma: UserClient, condition: Sql): Promise<string[]> {
  const ended = await prisma.$queryRaw<{ id: string }[]>(
    sql`UPDATE "sessions" SET "endedAt" = ${NOW} WHERE ${condition} AND ${IS_LIVE} RETURNING "id"`,
  );
  return ended.map(({ id }) => id);
}
