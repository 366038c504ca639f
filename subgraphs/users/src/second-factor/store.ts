/** Second factors in PostgreSQL. Every method is one statement, to be combined in a transaction. */
import { sql } from '@trestle/chassis/database/sql';
import type { UserClient } from '../user/store.ts';

/** What an account has. */
export interface SecondFactorStatus {
  readonly hasTotp: boolean;
  readonly passkeyCount: number;
  readonly recoveryCodesLeft: number;
}

/** The secret of an authenticator app. */
export interface TotpRow {
  readonly userId: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly confirmedAt: Date | null;
}

/** Keeps second factors. */
export type SecondFactorStore = ReturnType<typeof createSecondFactorStore>;

/** Creates the store. */
export function createSecondFactorStore(prisma: Pick<UserClient, '$queryRaw' | '$executeRaw'>) {
  return {
    /**
     * Locks an account until the transaction ends, so that its second factors change one after the other: what a change counts stays so.
     * Returns whether the account exists, with `passwordHash` if it is given.
     */
    async lockAccount(userId: string, passwordHash: string | null = null): Promise<boolean> {
      const locked = await prisma.$queryRaw<unknown[]>(sql`
        SELECT FROM "users" WHERE "id" = ${userId} AND (${passwordHash}::text IS NULL OR "passwordHash" = ${passwordHash}) FOR NO KEY UPDATE`);
      return locked.length > 0;
    },

    /** Returns what an account has; secrets that were not confirmed do not count. */
    async status(userId: string): Promise<SecondFactorStatus> {
      const [status] = await prisma.$queryRaw<SecondFactorStatus[]>(sql`
        SELECT EXISTS (SELECT FROM "totp_secrets" WHERE "userId" = ${userId} AND "confirmedAt" IS NOT NULL) AS "hasTotp",
          (SELECT count(*)::int FROM "passkeys" WHERE "userId" = ${userId}) AS "passkeyCount",
          (SELECT count(*)::int FROM "recovery_codes" WHERE "userId" = ${userId}) AS "recoveryCodesLeft"`);
      return status ?? { hasTotp: false, passkeyCount: 0, recoveryCodesLeft: 0 };
    },

    /** Stores a secret that is yet to be confirmed. Returns false when the account has a confirmed one, which stays. */
    async beginTotp(userId: string, secret: Buffer): Promise<boolean> {
      const stored = await prisma.$executeRaw(sql`
        INSERT INTO "totp_secrets" AS t ("userId", "secret") VALUES (${userId}, ${secret})
        ON CONFLICT ("userId") DO UPDATE SET "secret" = EXCLUDED."secret", "lastStep" = NULL WHERE t."confirmedAt" IS NULL`);
      return stored > 0;
    },

    async findTotp(userId: string): Promise<TotpRow | undefined> {
      const [row] = await prisma.$queryRaw<TotpRow[]>(
        sql`SELECT "userId", "secret", "confirmedAt" FROM "totp_secrets" WHERE "userId" = ${userId}`,
      );
      return row;
    },

    /** Accepts the code of a time step, and confirms the secret. Returns false when a code of this step or a later one was used. */
    async useTotp({ userId, secret }: TotpRow, step: number): Promise<boolean> {
      const used = await prisma.$executeRaw(sql`
        UPDATE "totp_secrets" SET "lastStep" = ${step}::bigint, "confirmedAt" = coalesce("confirmedAt", date_trunc('second', now()))
        WHERE "userId" = ${userId} AND "secret" = ${secret} AND ("lastStep" IS NULL OR "lastStep" < ${step}::bigint)`);
      return used > 0;
    },

    async removeTotp(userId: string): Promise<boolean> {
      return (await prisma.$executeRaw(sql`DELETE FROM "totp_secrets" WHERE "userId" = ${userId}`)) > 0;
    },

    /** Replaces the recovery codes of an account. An empty list deletes them. */
    async replaceRecoveryCodes(userId: string, hashes: readonly Buffer[]): Promise<void> {
      await prisma.$executeRaw(sql`DELETE FROM "recovery_codes" WHERE "userId" = ${userId}`);
      for (const hash of hashes) await prisma.$executeRaw(sql`INSERT INTO "recovery_codes" ("userId", "hash") VALUES (${userId}, ${hash})`);
    },

    /** Uses up a recovery code. Returns whether it was there. */
    async useRecoveryCode(userId: string, hash: Buffer): Promise<boolean> {
      return (await prisma.$executeRaw(sql`DELETE FROM "recovery_codes" WHERE "userId" = ${userId} AND "hash" = ${hash}`)) > 0;
    },
  };
}
