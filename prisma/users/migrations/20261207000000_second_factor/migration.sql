-- Second factors of accounts (ADR 21).
CREATE TABLE "totp_secrets" (
    "userId" TEXT NOT NULL,
    -- AES-256-GCM with a key that is not in the database: nonce, tag, ciphertext.
    "secret" BYTEA NOT NULL,
    -- The last time step whose code was accepted: each code is accepted once (RFC 6238 §5.2).
    "lastStep" BIGINT,
    -- Null until a first code has proved that the owner has the secret; until then it protects nothing.
    "confirmedAt" TIMESTAMPTZ(0),

    CONSTRAINT "totp_secrets_pkey" PRIMARY KEY ("userId"),
    CONSTRAINT "totp_secrets_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "passkeys" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "credentialId" TEXT NOT NULL,
    "publicKey" BYTEA NOT NULL,
    -- Signatures that the authenticator has counted; 0 when it does not count.
    "counter" BIGINT NOT NULL,
    "transports" TEXT[] NOT NULL DEFAULT '{}',
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lastUsedAt" TIMESTAMPTZ(0),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "passkeys_name_length" CHECK (char_length("name") BETWEEN 1 AND 100),
    CONSTRAINT "passkeys_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "passkeys_credentialId_key" ON "passkeys"("credentialId");
CREATE INDEX "passkeys_userId_idx" ON "passkeys"("userId");

-- HMAC of codes that were not used yet.
CREATE TABLE "recovery_codes" (
    "userId" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("userId", "hash"),
    CONSTRAINT "recovery_codes_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- What was begun with a password and must be completed within minutes, once: a login, or the registration of a passkey.
CREATE TABLE "challenges" (
    -- SHA-256 of the challenge.
    "hash" BYTEA NOT NULL,
    "userId" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    -- The token generation of the account: a new password or role makes the challenge void.
    "generation" INTEGER NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "challenges_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "challenges_hash_sha256" CHECK (octet_length("hash") = 32),
    CONSTRAINT "challenges_purpose" CHECK ("purpose" IN ('login', 'passkey')),
    CONSTRAINT "challenges_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "challenges_userId_idx" ON "challenges"("userId");
CREATE INDEX "challenges_expiresAt_idx" ON "challenges"("expiresAt");
