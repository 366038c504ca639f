-- Mailed links by which a password is set anew. Only the SHA-256 of a link's token is stored. A used one stays until it has expired, so that the
-- job that mailed it cannot make it valid again.
CREATE TABLE "password_resets" (
    "tokenHash" BYTEA NOT NULL,
    "userId" TEXT NOT NULL,
    "jobId" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),

    CONSTRAINT "password_resets_pkey" PRIMARY KEY ("tokenHash"),
    CONSTRAINT "password_resets_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "password_resets_tokenHash_sha256" CHECK (octet_length("tokenHash") = 32)
);
CREATE INDEX "password_resets_userId_idx" ON "password_resets"("userId");
CREATE INDEX "password_resets_expiresAt_idx" ON "password_resets"("expiresAt");

-- A new password, a new e-mail address and a deactivation invalidate all links of the account, whichever program makes the change.
CREATE FUNCTION "end_password_resets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "password_resets" SET "usedAt" = clock_timestamp() WHERE "userId" = NEW."id" AND "usedAt" IS NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER "users_end_password_resets" AFTER UPDATE ON "users" FOR EACH ROW
WHEN (
    NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash"
    OR NEW."email" IS DISTINCT FROM OLD."email"
    OR (OLD."isActive" AND NOT NEW."isActive")
)
EXECUTE FUNCTION "end_password_resets"();
