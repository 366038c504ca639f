/** Mailed links in PostgreSQL, by its clock. */
import { sql } from '@trestle/chassis/database/sql';
import type { UserClient } from '../user/store.ts';
import { LINK_MINUTES } from './token.ts';

/** A link that was mailed. */
export interface MailedLink {
  readonly tokenHash: Buffer;
  readonly userId: string;
  /** The token generation of the account whose address the mail goes to. */
  readonly generation: number;
  readonly jobId: string;
}

/** The account of a valid link, and the job that mailed it. */
export interface LinkAccount {
  readonly userId: string;
  readonly email: string;
  /** The address in the case in which logins are counted. */
  readonly loginName: string;
  readonly jobId: string;
}

/** Keeps links. */
export interface PasswordResetStore {
  /**
   * Makes a link valid for 30 minutes from now. Returns false for one that was used or invalidated, and for an account whose tokens were
   * revoked since it was read, as a new e-mail address does: the mail would go to the former one.
   */
  add(link: MailedLink): Promise<boolean>;
  /** Returns the account of a valid link. */
  find(tokenHash: Buffer): Promise<LinkAccount | undefined>;
  /** Locks the account until the transaction ends: of several links that are used at once, one wins. */
  lockAccount(userId: string): Promise<void>;
  /** Uses a link. Returns whether this call did so; of several at once exactly one does. */
  use(tokenHash: Buffer): Promise<boolean>;
  /** Deletes links that expired a day ago: by then their job is at its end. */
  sweep(): Promise<void>;
}

const IS_VALID = sql`r."usedAt" IS NULL AND r."expiresAt" > clock_timestamp()`;

/** Creates the store. */
export function createPasswordResetStore(prisma: Pick<UserClient, '$queryRaw' | '$executeRaw'>): PasswordResetStore {
  return {
    async add({ tokenHash, userId, generation, jobId }) {
      const added = await prisma.$executeRaw(sql`
        INSERT INTO "password_resets" AS r ("tokenHash", "userId", "jobId", "expiresAt")
        SELECT ${tokenHash}::bytea, "id", ${jobId}, clock_timestamp() + make_interval(mins => ${LINK_MINUTES}::int)
        FROM "users" WHERE "id" = ${userId} AND "tokenGeneration" = ${generation}::int AND "isActive" FOR SHARE
        ON CONFLICT ("tokenHash") DO UPDATE SET "expiresAt" = EXCLUDED."expiresAt" WHERE r."usedAt" IS NULL`);
      return added > 0;
    },
    async find(tokenHash) {
      const [account] = await prisma.$queryRaw<LinkAccount[]>(sql`
        SELECT u."id" AS "userId", u."email", lower(u."email") AS "loginName", r."jobId"
        FROM "password_resets" r JOIN "users" u ON u."id" = r."userId" AND u."isActive"
        WHERE r."tokenHash" = ${tokenHash} AND ${IS_VALID}`);
      return account;
    },
    async lockAccount(userId) {
      await prisma.$queryRaw(sql`SELECT "id" FROM "users" WHERE "id" = ${userId} FOR NO KEY UPDATE`);
    },
    async use(tokenHash) {
      const used = await prisma.$executeRaw(
        sql`UPDATE "password_resets" r SET "usedAt" = clock_timestamp() WHERE r."tokenHash" = ${tokenHash} AND ${IS_VALID}`,
      );
      return used > 0;
    },
    async sweep() {
      await prisma.$executeRaw(sql`DELETE FROM "password_resets" WHERE "expiresAt" <= now() - interval '1 day'`);
    },
  };
}
