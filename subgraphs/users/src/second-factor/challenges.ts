/** Challenges: what a password has begun, to be completed within minutes and once. The database has their SHA-256 only. */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from '@trestle/chassis/database/sql';
import type { LoginAccount } from '../session/store.ts';
import type { UserClient } from '../user/store.ts';

/** How long a challenge is valid, in seconds. */
export const CHALLENGE_SECONDS = 300;
const CHALLENGE = /^[\w-]{43}$/;
/** Of one account; a further one replaces the oldest. */
const MAX_CHALLENGES = 10;

/** What a challenge is for. */
export type ChallengePurpose = 'login' | 'passkey';

/** A challenge that was not used yet. */
export interface Challenge {
  readonly userId: string;
  /** The token generation of the account. */
  readonly generation: number;
  readonly secondsLeft: number;
}

/** Keeps challenges. */
export interface ChallengeStore {
  /**
   * Begins something for an account as the request has read it, and returns its challenge: 256 random bits in base64url. A challenge of an
   * account whose tokens were revoked since then is never valid.
   */
  begin(account: LoginAccount, purpose: ChallengePurpose): Promise<string>;
  /** Returns a valid challenge of an active account; undefined without one, and after a change of password, address or role. */
  find(challenge: string, purpose: ChallengePurpose): Promise<Challenge | undefined>;
  /** Deletes a challenge. Returns whether this call did so, and the challenge was valid; of several calls at once at most one returns true. */
  consume(challenge: string): Promise<boolean>;
  /** Deletes expired ones. */
  sweep(): Promise<void>;
}

/** Creates the store. */
export function createChallengeStore(prisma: Pick<UserClient, '$queryRaw' | '$executeRaw'>): ChallengeStore {
  return {
    async begin({ id, tokenGeneration }, purpose) {
      const challenge = randomBytes(32).toString('base64url');
      await prisma.$executeRaw(sql`
        WITH replaced AS (
          DELETE FROM "challenges" WHERE "hash" IN (
            SELECT "hash" FROM "challenges" WHERE "userId" = ${id} ORDER BY "expiresAt" DESC OFFSET ${MAX_CHALLENGES - 1}::int
          )
        )
        INSERT INTO "challenges" ("hash", "userId", "purpose", "generation", "expiresAt")
        SELECT ${hash(challenge)}, "id", ${purpose}, ${tokenGeneration}::int, clock_timestamp() + make_interval(secs => ${CHALLENGE_SECONDS}::int)
        FROM "users" WHERE "id" = ${id}`);
      return challenge;
    },
    async find(challenge, purpose) {
      if (!CHALLENGE.test(challenge)) return undefined;
      const [row] = await prisma.$queryRaw<Challenge[]>(sql`
        SELECT c."userId", c."generation", ceil(extract(epoch FROM c."expiresAt" - clock_timestamp()))::int AS "secondsLeft"
        FROM "challenges" c JOIN "users" u ON u."id" = c."userId" AND u."tokenGeneration" = c."generation" AND u."isActive"
        WHERE c."hash" = ${hash(challenge)} AND c."purpose" = ${purpose} AND c."expiresAt" > clock_timestamp()`);
      return row;
    },
    async consume(challenge) {
      const consumed = await prisma.$executeRaw(sql`
        DELETE FROM "challenges" c USING "users" u
        WHERE c."hash" = ${hash(challenge)} AND u."id" = c."userId" AND u."tokenGeneration" = c."generation" AND u."isActive"`);
      return consumed > 0;
    },
    async sweep() {
      await prisma.$executeRaw(sql`DELETE FROM "challenges" WHERE "expiresAt" <= now()`);
    },
  };
}

function hash(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}
