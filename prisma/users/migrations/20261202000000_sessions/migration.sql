-- Sessions of accounts (ADR 19): a login, and the refresh tokens that follow from it. Only hashes of tokens are stored.
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    -- SHA-256 of the refresh token that is valid now.
    "tokenHash" BYTEA NOT NULL,
    "device" TEXT NOT NULL,
    -- A /24 or /48 network for people to read, and the pseudonym of the client's network; null when the client is not known.
    "address" TEXT,
    "network" TEXT,
    "createdAt" TIMESTAMPTZ(0) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(0) NOT NULL,
    "expiresAt" TIMESTAMPTZ(0) NOT NULL,
    "endedAt" TIMESTAMPTZ(0),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sessions_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "sessions_tokenHash_sha256" CHECK (octet_length("tokenHash") = 32),
    CONSTRAINT "sessions_device_length" CHECK (char_length("device") <= 100)
);
CREATE UNIQUE INDEX "sessions_tokenHash_key" ON "sessions"("tokenHash");
CREATE INDEX "sessions_userId_createdAt_id_idx" ON "sessions"("userId", "createdAt", "id");
CREATE INDEX "sessions_expiresAt_idx" ON "sessions"("expiresAt");

-- Refresh tokens that were exchanged for the next one of their session. One that is sent again was stolen, or its response was lost.
CREATE TABLE "used_refresh_tokens" (
    "hash" BYTEA NOT NULL,
    "sessionId" TEXT NOT NULL,
    "usedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_refresh_tokens_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "used_refresh_tokens_sessionId_fkey" FOREIGN KEY ("sessionId") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "used_refresh_tokens_sessionId_idx" ON "used_refresh_tokens"("sessionId");

-- A new password and a deactivation end the sessions of an account, whichever program makes the change. A program that keeps one session
-- names it in the setting trestle.kept_session of its transaction.
CREATE FUNCTION "end_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "sessions" SET "endedAt" = now()
    WHERE "userId" = NEW."id" AND "endedAt" IS NULL AND "id" IS DISTINCT FROM current_setting('trestle.kept_session', true);
    RETURN NULL;
END
$$;
CREATE TRIGGER "users_end_sessions" AFTER UPDATE ON "users" FOR EACH ROW
WHEN (NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash" OR (OLD."isActive" AND NOT NEW."isActive"))
EXECUTE FUNCTION "end_sessions"();

-- The audit trail: what happened to accounts and credentials. Rows are only ever added; ids of accounts stay after their deletion.
CREATE TABLE "security_events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "userId" TEXT,
    "actorId" TEXT,
    "subject" TEXT,
    "detail" TEXT,
    "address" TEXT,
    "device" TEXT,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "security_events_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "security_events_type" CHECK ("type" ~ '^[A-Z_]{1,50}$'),
    CONSTRAINT "security_events_subject_length" CHECK (char_length("subject") <= 100),
    CONSTRAINT "security_events_detail_length" CHECK (char_length("detail") <= 200),
    CONSTRAINT "security_events_device_length" CHECK (char_length("device") <= 100)
);
CREATE INDEX "security_events_createdAt_id_idx" ON "security_events"("createdAt", "id");
CREATE INDEX "security_events_userId_createdAt_id_idx" ON "security_events"("userId", "createdAt", "id");
CREATE INDEX "security_events_type_createdAt_id_idx" ON "security_events"("type", "createdAt", "id");

CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are never changed or deleted.', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "security_events_append_only" BEFORE UPDATE OR DELETE ON "security_events" FOR EACH ROW
EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "security_events_no_truncate" BEFORE TRUNCATE ON "security_events" FOR EACH STATEMENT
EXECUTE FUNCTION "refuse_change"();
