/** Passkeys in PostgreSQL. Every method is one statement. A transaction that adds or removes one has locked the account (see store.ts). */
import { sql } from '@trestle/chassis/database/sql';
import type { CreateId } from '@trestle/chassis/values/ids';
import type { UserClient } from '../user/store.ts';
import type { NewPasskey, PasskeyRow } from './passkeys.ts';

/** The most passkeys of an account. */
export const MAX_PASSKEYS = 10;

/** Keeps passkeys. */
export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

/** Creates the store. */
export function createPasskeyStore(prisma: Pick<UserClient, '$queryRaw' | '$executeRaw'>, createId: CreateId) {
  return {
    /** Returns the passkeys of an account, oldest first. */
    async list(userId: string): Promise<PasskeyRow[]> {
      return prisma.$queryRaw<PasskeyRow[]>(sql`
        SELECT "id", "userId", "name", "credentialId", "publicKey", "counter"::float8 AS "counter", "transports", "createdAt", "lastUsedAt"
        FROM "passkeys" WHERE "userId" = ${userId} ORDER BY "createdAt", "id"`);
    },

    /** Adds a passkey. Returns false when the account has too many, or when the passkey belongs to an account already. */
    async add(userId: string, name: string, { credentialId, publicKey, counter, transports }: NewPasskey): Promise<boolean> {
      const added = await prisma.$executeRaw(sql`
        INSERT INTO "passkeys" ("id", "userId", "name", "credentialId", "publicKey", "counter", "transports")
        SELECT ${createId('pky')}, ${userId}, ${name}, ${credentialId}, ${Buffer.from(publicKey)}, ${counter}::bigint, ${[...transports]}::text[]
        WHERE (SELECT count(*) FROM "passkeys" WHERE "userId" = ${userId}) < ${MAX_PASSKEYS}::int
        ON CONFLICT DO NOTHING`);
      return added > 0;
    },

    /** Stores the counter of a signature. Returns false when another one with this or a later counter was used: a copy of the passkey has signed. */
    async use(id: string, counter: number): Promise<boolean> {
      const used = await prisma.$executeRaw(sql`
        UPDATE "passkeys" SET "counter" = ${counter}::bigint, "lastUsedAt" = date_trunc('second', now())
        WHERE "id" = ${id} AND ("counter" < ${counter}::bigint OR ("counter" = 0 AND ${counter}::bigint = 0))`);
      return used > 0;
    },

    /** Removes all passkeys of an account. Returns their number. */
    async removeAll(userId: string): Promise<number> {
      return prisma.$executeRaw(sql`DELETE FROM "passkeys" WHERE "userId" = ${userId}`);
    },

    /** Removes a passkey of an account. Returns whether it was there. */
    async remove(userId: string, id: string): Promise<boolean> {
      return (await prisma.$executeRaw(sql`DELETE FROM "passkeys" WHERE "userId" = ${userId} AND "id" = ${id}`)) > 0;
    },
  };
}
