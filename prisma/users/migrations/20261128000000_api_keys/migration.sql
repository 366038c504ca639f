-- Keys with scopes, an expiry and a rotation. "hash" is now the HMAC-SHA-256 of the key, with a secret that is not in the database. The rows
-- so far have a plain SHA-256, and no version has accepted their keys: they expire here, and `npm start` renews those of the demo accounts.
WITH gone AS (DELETE FROM "api_keys" WHERE "revokedAt" IS NOT NULL RETURNING "id", "revokedAt")
INSERT INTO "tombstones" ("id", "deletedAt") SELECT "id", "revokedAt" FROM gone;

ALTER TABLE "api_keys"
    DROP COLUMN "revokedAt",
    ADD COLUMN "lastFour" TEXT NOT NULL DEFAULT '----',
    ADD COLUMN "scopes" TEXT[] NOT NULL DEFAULT ARRAY[
        'users:read', 'users:write', 'orders:read', 'orders:write', 'payments:read', 'payments:write', 'posts:read', 'posts:write',
        'comments:write', 'videos:write', 'messages:read', 'messages:write'
    ],
    ADD COLUMN "isAllowedInUrl" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "expiresAt" TIMESTAMPTZ(0),
    ADD COLUMN "lastUsedAt" TIMESTAMPTZ(0),
    ADD COLUMN "successorId" TEXT,
    ADD COLUMN "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1,
    ADD CONSTRAINT "api_keys_name_length" CHECK (char_length("name") BETWEEN 1 AND 100),
    ADD CONSTRAINT "api_keys_last_four_length" CHECK (char_length("lastFour") = 4),
    ADD CONSTRAINT "api_keys_version_positive" CHECK ("version" >= 1);
UPDATE "api_keys" SET "expiresAt" = CURRENT_TIMESTAMP;
ALTER TABLE "api_keys" ALTER COLUMN "lastFour" DROP DEFAULT, ALTER COLUMN "scopes" DROP DEFAULT;
DROP INDEX "api_keys_userId_idx";
CREATE INDEX "api_keys_userId_createdAt_id_idx" ON "api_keys"("userId", "createdAt", "id");

-- A key that is deleted, in whatever way, revokes the tokens that were issued for it: their session is the key (ADR 10).
CREATE FUNCTION "revoke_api_key_tokens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "tell"('tokensRevoked', OLD."userId", jsonb_build_object('sessionId', OLD."id"));
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "api_keys_deleted" AFTER DELETE ON "api_keys" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION "revoke_api_key_tokens"();
