-- The outbox as plain tables (ADR 24). The same file in every subgraph.
-- Writers insert into "outbox_current". Once a day "maintain_outbox" renames it and creates the next one; a table whose events are all old is
-- dropped. All are children of "outbox", which readers read. An INSERT needs no route to a partition and no check of its bounds, which took a
-- quarter of the time of an event; and it cannot fail, or go elsewhere, because maintenance did not run.
ALTER TABLE "outbox" RENAME TO "outbox_partitioned";
ALTER INDEX "outbox_pkey" RENAME TO "outbox_partitioned_pkey";
CREATE TABLE "outbox" (
    "position" BIGINT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "ownerId" TEXT,
    -- PUBLIC, USER, OWNER or ADMIN; null for an event that only processes of this subgraph read.
    "audience" TEXT,
    "data" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position", "createdAt")
);
DO $$
DECLARE
    "part" REGCLASS;
    "isEmpty" BOOLEAN;
BEGIN
    FOR "part" IN SELECT i."inhrelid"::regclass FROM pg_inherits i WHERE i."inhparent" = '"outbox_partitioned"'::regclass LOOP
        EXECUTE format('ALTER TABLE "outbox_partitioned" DETACH PARTITION %s', "part");
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', "part") INTO "isEmpty";
        IF "isEmpty" THEN
            EXECUTE format('DROP TABLE %s', "part");
        ELSE
            EXECUTE format('ALTER TABLE %s INHERIT "outbox"', "part");
        END IF;
    END LOOP;
END
$$;
DROP TABLE "outbox_partitioned";
CREATE TABLE "outbox_current" (CONSTRAINT "outbox_current_pkey" PRIMARY KEY ("position", "createdAt")) INHERITS ("outbox");

-- Begins a new table when the oldest event is not of today (UTC), and drops those whose newest event is older than "keep". Does nothing while
-- another process does it. Writers wait for the lock on their table, so it is given up soon; the next call tries again.
-- A transaction holds its table from before its first position until its commit, so a position in a newer table is always the greater one.
CREATE OR REPLACE FUNCTION "maintain_outbox"("keep" INTERVAL) RETURNS void LANGUAGE plpgsql
SET lock_timeout = '200ms' SET timezone = 'UTC' SET client_min_messages = warning AS $$
DECLARE
    "oldest" TIMESTAMPTZ;
    "newest" RECORD;
    "part" REGCLASS;
BEGIN
    IF NOT pg_try_advisory_xact_lock(72707372, 1) THEN
        RETURN;
    END IF;
    SELECT o."createdAt" INTO "oldest" FROM "outbox_current" o ORDER BY o."position" LIMIT 1;
    IF "oldest" < current_date THEN
        PERFORM "rotate_outbox"();
    END IF;
    FOR "part" IN
        SELECT i."inhrelid"::regclass FROM pg_inherits i
        WHERE i."inhparent" = '"outbox"'::regclass AND i."inhrelid" <> '"outbox_current"'::regclass
    LOOP
        EXECUTE format('SELECT o."position", o."createdAt" FROM %s o ORDER BY o."position" DESC LIMIT 1', "part") INTO "newest";
        IF "newest" IS NULL OR "newest"."createdAt" <= now() - "keep" THEN
            UPDATE "outbox_removed" SET "position" = greatest("position", "newest"."position");
            EXECUTE format('DROP TABLE %s', "part");
        END IF;
    END LOOP;
END
$$;

-- Gives the table of writers the name of its last position, and creates the next one with the same indexes. A statement that waits for the old
-- table looks up the name again when it gets its lock.
CREATE FUNCTION "rotate_outbox"() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    "name" TEXT;
    "index" RECORD;
BEGIN
    LOCK TABLE "outbox_current" IN ACCESS EXCLUSIVE MODE;
    SELECT 'outbox_to_' || max(o."position") INTO "name" FROM "outbox_current" o;
    FOR "index" IN
        SELECT c."relname" FROM pg_index i JOIN pg_class c ON c."oid" = i."indexrelid" WHERE i."indrelid" = '"outbox_current"'::regclass
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', "index"."relname", replace("index"."relname", 'outbox_current', "name"));
    END LOOP;
    EXECUTE format('ALTER TABLE "outbox_current" RENAME TO %I', "name");
    EXECUTE format('CREATE TABLE "outbox_current" (LIKE %I INCLUDING INDEXES) INHERITS ("outbox")', "name");
END
$$;

-- Returns a new position for an event. It is one expression, so that PostgreSQL puts it into the statement of each trigger; CASE guarantees the
-- order of what it does. Before the first position of a transaction: the shared lock that names the sequence's last value, which tells
-- "read_settled_position" that a position is to come. After it: one try of the second lock, whose holder sends the notification; by then the
-- reader that it wakes can see the first lock, and the position as drawn. A position that could not be locked is null, and the INSERT fails.
CREATE FUNCTION "next_outbox_position"() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN coalesce(current_setting('trestle.outbox', true), '') <> '' THEN nextval('outbox_positions')
        WHEN pg_advisory_xact_lock_shared(72707371, (pg_sequence_last_value('outbox_positions') & 2147483647)::int) IS NULL THEN NULL
        WHEN set_config('trestle.outbox', 'locked', true) IS NULL THEN NULL
        WHEN nextval('outbox_positions') IS NULL THEN NULL
        WHEN NOT pg_try_advisory_xact_lock(72707372, 0) THEN currval('outbox_positions')
        WHEN pg_notify('trestle_events', '') IS NULL THEN NULL
        ELSE currval('outbox_positions')
    END
$$;

-- For events that are rare; the others are one statement in their trigger.
CREATE OR REPLACE FUNCTION "emit_event"("eventType" TEXT, "entity" TEXT, "details" JSONB, "owner" TEXT, "readers" TEXT)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "outbox_current" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
    VALUES ("next_outbox_position"(), "create_event_id"(clock_timestamp()), "eventType", "entity", "owner", "readers", "details",
        clock_timestamp());
END
$$;
