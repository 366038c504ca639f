-- What was done under an Idempotency-Key, for 24 hours; neither the key nor the arguments can be read from it.
CREATE TABLE "idempotency_keys" (
    "keyHash" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "result" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(0) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("keyHash"),
    CONSTRAINT "idempotency_keys_keyHash_sha256" CHECK ("keyHash" ~ '^[0-9a-f]{64}$'),
    CONSTRAINT "idempotency_keys_fingerprint_sha256" CHECK ("fingerprint" ~ '^[0-9a-f]{64}$')
);

-- The oldest are swept first.
CREATE INDEX "idempotency_keys_createdAt_idx" ON "idempotency_keys"("createdAt");
