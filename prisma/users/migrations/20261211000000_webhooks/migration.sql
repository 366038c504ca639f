-- The journal: the events of all subgraphs, in the order in which this one received them. Its readers are lists, subscriptions and
-- webhooks. Ids and states only, no personal data. One partition for each day (UTC) of arrival; old ones are dropped as a whole.
CREATE TABLE "journal" (
    "position" BIGINT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "subject" TEXT,
    "ownerId" TEXT,
    "audience" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "recordedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "journal_pkey" PRIMARY KEY ("position", "recordedAt"),
    CONSTRAINT "journal_audience" CHECK ("audience" IN ('PUBLIC', 'USER', 'OWNER', 'ADMIN'))
) PARTITION BY RANGE ("recordedAt");
-- An event that comes again, after a backup of its source was restored, is known by its id.
CREATE INDEX "journal_id_idx" ON "journal"("id");
CREATE INDEX "journal_recordedAt_idx" ON "journal"("recordedAt");

-- The last position. Who appends holds this row until the commit, so that positions become visible in their order and without gaps.
CREATE TABLE "journal_head" (
    "isHead" BOOLEAN NOT NULL DEFAULT true,
    "position" BIGINT NOT NULL,

    CONSTRAINT "journal_head_pkey" PRIMARY KEY ("isHead"),
    CONSTRAINT "journal_head_single" CHECK ("isHead")
);
INSERT INTO "journal_head" ("position") VALUES (0);

-- Endpoints of accounts that events are sent to. The secrets are encrypted, with a key that is not in the database.
CREATE TABLE "webhooks" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[] NOT NULL,
    "isEnabled" BOOLEAN NOT NULL DEFAULT true,
    "disabledReason" TEXT,
    "secret" BYTEA NOT NULL,
    "previousSecret" BYTEA,
    "previousSecretExpiresAt" TIMESTAMPTZ(0),
    -- Since when no delivery has succeeded; null after a success.
    "failingSince" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhooks_name_length" CHECK (char_length("name") BETWEEN 1 AND 100),
    CONSTRAINT "webhooks_url_length" CHECK (char_length("url") BETWEEN 1 AND 2000),
    CONSTRAINT "webhooks_types_count" CHECK (cardinality("types") BETWEEN 1 AND 50),
    CONSTRAINT "webhooks_reason" CHECK ("isEnabled" = ("disabledReason" IS NULL)),
    CONSTRAINT "webhooks_version_positive" CHECK ("version" >= 1),
    CONSTRAINT "webhooks_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "webhooks_userId_createdAt_id_idx" ON "webhooks"("userId", "createdAt", "id");
CREATE INDEX "webhooks_types_idx" ON "webhooks" USING gin ("types") WHERE "isEnabled";

-- What was sent, or is to be sent. A waiting delivery is due at "nextAttemptAt"; who works on it moves that time to the end of its lease,
-- so that the delivery of a killed worker becomes due again.
CREATE TABLE "webhook_deliveries" (
    "id" TEXT NOT NULL,
    "webhookId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'WAITING',
    "eventId" TEXT NOT NULL,
    "eventType" TEXT NOT NULL,
    "audience" TEXT NOT NULL,
    "event" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    -- The last attempts, newest last: time, duration, heads, status or error.
    "log" JSONB NOT NULL DEFAULT '[]',
    "nextAttemptAt" TIMESTAMPTZ(3),
    -- Who works on it: the result of a worker whose lease has ended is not written.
    "leaseId" UUID,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completedAt" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_deliveries_kind" CHECK ("kind" IN ('EVENT', 'REPLAY', 'PING')),
    CONSTRAINT "webhook_deliveries_status" CHECK ("status" IN ('WAITING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    CONSTRAINT "webhook_deliveries_due" CHECK (("status" = 'WAITING') = ("nextAttemptAt" IS NOT NULL)),
    CONSTRAINT "webhook_deliveries_completed" CHECK (("status" = 'WAITING') = ("completedAt" IS NULL)),
    CONSTRAINT "webhook_deliveries_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries"("webhookId", "nextAttemptAt") WHERE "status" = 'WAITING';
CREATE INDEX "webhook_deliveries_webhookId_createdAt_id_idx" ON "webhook_deliveries"("webhookId", "createdAt", "id");
CREATE INDEX "webhook_deliveries_completedAt_idx" ON "webhook_deliveries"("completedAt") WHERE "status" <> 'WAITING';

-- An id with this prefix, as the processes make them: 48 bits of time and 80 random bits in Crockford's base 32.
CREATE FUNCTION "create_id"("prefix" TEXT) RETURNS TEXT LANGUAGE sql VOLATILE AS $$
    SELECT "prefix" || '_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', CASE WHEN i < 10
            THEN ((floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint >> (5 * (9 - i))) & 31)::int
            ELSE get_byte(r."bytes", i) & 31
        END + 1, 1), '' ORDER BY i)
    FROM (SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) AS "bytes") r, generate_series(0, 25) i
$$;

-- Who may learn of an event (contract §3); readers are always signed in. Moderators edit any post and comment, so they learn of them.
CREATE FUNCTION "may_learn"("audience" TEXT, "type" TEXT, "ownerId" TEXT, "userId" TEXT, "role" TEXT) RETURNS BOOLEAN
LANGUAGE sql IMMUTABLE AS $$
    SELECT "audience" IN ('PUBLIC', 'USER') OR "role" = 'ADMIN' OR ("audience" = 'OWNER' AND (
        coalesce("ownerId" = "userId", false) OR ("role" = 'MODERATOR' AND split_part("type", '.', 1) IN ('post', 'comment'))))
$$;

-- The names by which a filter can select events of this type: itself, its family and everything.
CREATE FUNCTION "type_patterns"("type" TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY["type", split_part("type", '.', 1) || '.*', '*']
$$;

-- Creates the partition of a day. It is attached rather than created in place, since that would lock out the readers of the journal.
CREATE FUNCTION "journal_partition"("day" DATE) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    "partition" TEXT := 'journal_' || to_char("day", 'YYYYMMDD');
BEGIN
    IF to_regclass(quote_ident("partition")) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE "journal" INCLUDING ALL)', "partition");
    EXECUTE format('ALTER TABLE "journal" ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', "partition",
        "day"::timestamp AT TIME ZONE 'UTC', ("day" + 1)::timestamp AT TIME ZONE 'UTC');
END
$$;

-- Drops the partitions whose events have all passed their retention, and returns their number.
CREATE FUNCTION "journal_sweep"("hours" INTEGER) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    "dropped" INTEGER := 0;
    "partition" TEXT;
BEGIN
    FOR "partition" IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = '"journal"'::regclass
          AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' < now() - make_interval(hours => greatest("hours", 24))
    LOOP
        EXECUTE format('DROP TABLE %I', "partition");
        "dropped" := "dropped" + 1;
    END LOOP;
    RETURN "dropped";
END
$$;

-- Adds those events that are new, and a delivery for each endpoint that they concern, all in the caller's transaction. Returns the last position.
CREATE FUNCTION "journal_append"("added" JSONB) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    "count" INTEGER;
    "head" BIGINT;
    "at" TIMESTAMPTZ;
BEGIN
    PERFORM FROM "journal_head" FOR UPDATE;
    SELECT jsonb_agg(e.event ORDER BY e.n) INTO "added" FROM jsonb_array_elements("added") WITH ORDINALITY AS e(event, n)
    WHERE NOT EXISTS (SELECT FROM "journal" j WHERE j."id" = e.event->>'id');
    "count" := coalesce(jsonb_array_length("added"), 0);
    UPDATE "journal_head" h SET "position" = h."position" + "count" RETURNING h."position" INTO "head";
    IF "count" = 0 THEN
        RETURN "head";
    END IF;
    -- After the lock, so that times have the order of positions.
    "at" := clock_timestamp();
    PERFORM "journal_partition"(("at" AT TIME ZONE 'UTC')::date);
    INSERT INTO "journal" ("position", "id", "type", "source", "subject", "ownerId", "audience", "data", "time", "recordedAt")
    SELECT "head" - "count" + e.n, e.event->>'id', e.event->>'type', e.event->>'source', e.event->>'subject', e.event->>'ownerId',
        e.event->>'audience', coalesce(e.event->'data', '{}'), (e.event->>'time')::timestamptz, "at"
    FROM jsonb_array_elements("added") WITH ORDINALITY AS e(event, n);
    INSERT INTO "webhook_deliveries" ("id", "webhookId", "kind", "eventId", "eventType", "audience", "event", "nextAttemptAt")
    SELECT "create_id"('dlv'), w."id", 'EVENT', e.event->>'id', e.event->>'type', e.event->>'audience', e.event, "at"
    FROM jsonb_array_elements("added") WITH ORDINALITY AS e(event, n)
    JOIN "webhooks" w ON w."isEnabled" AND w."types" && "type_patterns"(e.event->>'type')
    JOIN "users" u ON u."id" = w."userId" AND u."isActive"
        AND "may_learn"(e.event->>'audience', e.event->>'type', e.event->>'ownerId', u."id", u."role"::text)
    ORDER BY e.n;
    PERFORM pg_notify('trestle_journal', "head"::text);
    RETURN "head";
END
$$;

-- A disabled endpoint gets nothing, not even what waits; its owner can replay the events later.
CREATE FUNCTION "cancel_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "webhook_deliveries" SET "status" = 'CANCELLED', "nextAttemptAt" = NULL, "leaseId" = NULL, "completedAt" = clock_timestamp()
    WHERE "webhookId" = NEW."id" AND "status" = 'WAITING';
    RETURN NULL;
END
$$;
CREATE TRIGGER "webhooks_disabled" AFTER UPDATE OF "isEnabled" ON "webhooks" FOR EACH ROW
WHEN (OLD."isEnabled" AND NOT NEW."isEnabled") EXECUTE FUNCTION "cancel_deliveries"();

-- The owner learns of it, by the outbox as of every change (ADR 24).
CREATE FUNCTION "emit_webhook_disabled"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "emit_event"('webhook.disabled', NEW."id", jsonb_build_object('reason', NEW."disabledReason"), NEW."userId", 'OWNER');
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "webhooks_disabled_event" AFTER UPDATE OF "isEnabled" ON "webhooks" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD."isEnabled" AND NOT NEW."isEnabled" AND current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_webhook_disabled"();

-- What an account may no longer learn is not sent any more.
CREATE FUNCTION "cancel_hidden_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "webhook_deliveries" d SET "status" = 'CANCELLED', "nextAttemptAt" = NULL, "leaseId" = NULL, "completedAt" = clock_timestamp()
    FROM "webhooks" w WHERE w."userId" = NEW."id" AND d."webhookId" = w."id" AND d."status" = 'WAITING' AND d."kind" <> 'PING'
        AND NOT (NEW."isActive" AND "may_learn"(d."audience", d."eventType", d."event"->>'ownerId', NEW."id", NEW."role"::text));
    RETURN NULL;
END
$$;
CREATE TRIGGER "users_learn_less" AFTER UPDATE OF "role", "isActive" ON "users" FOR EACH ROW
WHEN (OLD."role" <> NEW."role" OR (OLD."isActive" AND NOT NEW."isActive")) EXECUTE FUNCTION "cancel_hidden_deliveries"();

-- An endpoint that is deleted, also with its account, leaves a tombstone (contract §2).
CREATE FUNCTION "bury_webhook"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "tombstones" ("id") VALUES (OLD."id") ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER "webhooks_deleted" AFTER DELETE ON "webhooks" FOR EACH ROW EXECUTE FUNCTION "bury_webhook"();
