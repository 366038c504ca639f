-- OAuth 2.0: the registered clients (RFC 6749 §2), and what the authorization server keeps: codes, grants, refresh tokens, sessions of browsers.
CREATE TABLE "oauth_clients" (
    "id" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secretHash" BYTEA,
    "redirectUris" TEXT[] NOT NULL DEFAULT '{}',
    "grantTypes" TEXT[] NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "oauth_clients_ownerId_idx" ON "oauth_clients"("ownerId");
ALTER TABLE "oauth_clients" ADD CONSTRAINT "oauth_clients_ownerId_fkey" FOREIGN KEY ("ownerId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The key is the SHA-256 of a code, token or cookie, so that a copy of the table gives no access.
CREATE TABLE "oauth_records" (
    "kind" TEXT NOT NULL,
    "keyHash" BYTEA NOT NULL,
    "payload" JSONB NOT NULL,
    "accountId" TEXT,
    "grantId" TEXT,
    "lookup" TEXT,
    "consumedAt" TIMESTAMPTZ(3),
    "polledAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_records_pkey" PRIMARY KEY ("kind", "keyHash"),
    CONSTRAINT "oauth_records_payload_size" CHECK (octet_length("payload"::text) <= 16384)
);
CREATE UNIQUE INDEX "oauth_records_kind_lookup_key" ON "oauth_records"("kind", "lookup");
CREATE INDEX "oauth_records_grantId_idx" ON "oauth_records"("grantId");
CREATE INDEX "oauth_records_accountId_idx" ON "oauth_records"("accountId");
CREATE INDEX "oauth_records_expiresAt_idx" ON "oauth_records"("expiresAt");
ALTER TABLE "oauth_records" ADD CONSTRAINT "oauth_records_accountId_fkey" FOREIGN KEY ("accountId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What revokes all tokens of an account ends its grants, refresh tokens and sessions at the authorization server too.
CREATE FUNCTION "delete_oauth_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "oauth_records" WHERE "accountId" = NEW."id";
    RETURN NULL;
END
$$;
CREATE TRIGGER "users_delete_oauth_records" AFTER UPDATE ON "users" FOR EACH ROW
WHEN (NEW."tokenGeneration" <> OLD."tokenGeneration")
EXECUTE FUNCTION "delete_oauth_records"();
