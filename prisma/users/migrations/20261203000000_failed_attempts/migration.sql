-- Failed attempts to prove an identity (ADR 20): wrong passwords and codes, by account and by network. The key is an HMAC, so that neither
-- e-mail addresses nor networks can be read from it; accounts that do not exist have rows as well.
CREATE TABLE "failed_attempts" (
    "key" BYTEA NOT NULL,
    "failures" INTEGER NOT NULL,
    -- Until then every attempt is refused, the right password too.
    "blockedUntil" TIMESTAMPTZ(3) NOT NULL,
    -- From then on the failures are forgotten.
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "failed_attempts_pkey" PRIMARY KEY ("key"),
    CONSTRAINT "failed_attempts_key_sha256" CHECK (octet_length("key") = 32)
);
CREATE INDEX "failed_attempts_expiresAt_idx" ON "failed_attempts"("expiresAt");
