-- The outbox (ADR 24): every change of this database as an event, written in the transaction of the change. Ids and states only, no
-- personal data. The same file in every subgraph; what is written here is decided by the triggers of the next migration.
CREATE SEQUENCE "outbox_positions" AS BIGINT MINVALUE 0;
-- So that "last_value" is a position that was drawn, also before the first event.
SELECT setval('outbox_positions', 0);

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

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position", "createdAt"),
    CONSTRAINT "outbox_position_positive" CHECK ("position" >= 1),
    CONSTRAINT "outbox_audience" CHECK ("audience" IN ('PUBLIC', 'USER', 'OWNER', 'ADMIN'))
) PARTITION BY RANGE ("createdAt");
-- For the days that have no partition of their own: no write may fail because nobody has created one.
CREATE TABLE "outbox_default" PARTITION OF "outbox" DEFAULT;

-- One row: the last position that was removed with its partition.
CREATE TABLE "outbox_removed" (
    "onlyRow" BOOLEAN NOT NULL DEFAULT true,
    "position" BIGINT NOT NULL,

    CONSTRAINT "outbox_removed_pkey" PRIMARY KEY ("onlyRow"),
    CONSTRAINT "outbox_removed_once" CHECK ("onlyRow")
);
INSERT INTO "outbox_removed" ("position") VALUES (0);

-- Sortable by time: 48 bits of milliseconds, then 56 random bits, in digits that Crockford's base 32 has too (contract §2).
CREATE FUNCTION "create_event_id"("at" TIMESTAMPTZ) RETURNS TEXT LANGUAGE sql VOLATILE AS $$
    SELECT 'evt_' || lpad(to_hex((extract(epoch FROM "at") * 1000)::bigint), 12, '0') || right(translate(gen_random_uuid()::text, '-', ''), 14)
$$;

-- Writes one event. Positions are drawn before the commit, and commits overtake each other; so a reader must know which are still to
-- come. Each transaction therefore holds, from before its first position until its commit is complete, a shared lock that names a
-- position below all of its own: see "read_settled_position". Nobody waits for these locks.
-- NOTIFY makes commits wait for each other. Only the transaction that gets the second lock sends one: the others commit while it is
-- held, and the reader that was woken sees their first locks, and reads until they are gone.
CREATE FUNCTION "emit_event"("eventType" TEXT, "entity" TEXT, "details" JSONB, "owner" TEXT, "readers" TEXT)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    "at" CONSTANT TIMESTAMPTZ := clock_timestamp();
BEGIN
    IF coalesce(current_setting('trestle.outbox', true), '') = '' THEN
        PERFORM pg_advisory_xact_lock_shared(72707371, ("last_value" & 2147483647)::int) FROM "outbox_positions";
        PERFORM set_config('trestle.outbox', 'locked', true);
    END IF;
    INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
    VALUES (nextval('outbox_positions'), "create_event_id"("at"), "eventType", "entity", "owner", "readers", "details", "at");
    IF pg_try_advisory_xact_lock(72707372, 0) THEN
        PERFORM pg_notify('trestle_events', '');
    END IF;
END
$$;

-- Returns the position up to which no event is still to be committed. A statement that begins later sees all of them. The sequence is
-- read before the locks: a transaction that has drawn a position up to `bound` held its lock by then, and either
-- still holds it or has ended.
-- The lock has 31 bits of the position; one that is not within the last 2^30 was taken after the sequence was read.
CREATE FUNCTION "read_settled_position"() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "bound" BIGINT;
    "unsettled" BIGINT;
BEGIN
    SELECT "last_value" INTO "bound" FROM "outbox_positions";
    SELECT max(l."distance") INTO "unsettled" FROM (
        SELECT ("bound" - "objid"::bigint) & 2147483647 AS "distance" FROM pg_locks
        WHERE "locktype" = 'advisory' AND "objsubid" = 2 AND "classid" = 72707371 AND "granted"
          AND "database" = (SELECT d."oid" FROM pg_database d WHERE d."datname" = current_database())
    ) l WHERE l."distance" < 1073741824;
    RETURN "bound" - coalesce("unsettled", 0);
END
$$;

-- Creates the partitions of today and the next two days (UTC), and drops those that ended before "keep". Does nothing while another
-- process does it. Writers wait for the lock on the table, so it is given up soon; the next call tries again.
CREATE FUNCTION "maintain_outbox"("keep" INTERVAL) RETURNS void LANGUAGE plpgsql SET lock_timeout = '200ms' SET timezone = 'UTC' AS $$
DECLARE
    "day" DATE;
    "old" RECORD;
    "last" BIGINT;
BEGIN
    IF NOT pg_try_advisory_xact_lock(72707372, 1) THEN
        RETURN;
    END IF;
    FOR "day" IN SELECT current_date + i FROM generate_series(0, 2) AS i LOOP
        IF to_regclass(format('outbox_%s', to_char("day", 'YYYYMMDD'))) IS NULL
           AND NOT EXISTS (SELECT FROM "outbox_default" WHERE "createdAt" >= "day" AND "createdAt" < "day" + 1) THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF "outbox" FOR VALUES FROM (%L) TO (%L)',
                'outbox_' || to_char("day", 'YYYYMMDD'), "day"::timestamptz, ("day" + 1)::timestamptz);
        END IF;
    END LOOP;
    FOR "old" IN
        SELECT c."relname" FROM pg_inherits i JOIN pg_class c ON c."oid" = i."inhrelid"
        WHERE i."inhparent" = '"outbox"'::regclass AND c."relname" ~ '^outbox_[0-9]{8}$'
          AND to_date(right(c."relname", 8), 'YYYYMMDD') + 1 <= now() - "keep"
    LOOP
        EXECUTE format('SELECT max("position") FROM %I', "old"."relname") INTO "last";
        UPDATE "outbox_removed" SET "position" = greatest("position", "last");
        EXECUTE format('DROP TABLE %I', "old"."relname");
    END LOOP;
    WITH removed AS (DELETE FROM "outbox_default" WHERE "createdAt" <= now() - "keep" RETURNING "position")
    UPDATE "outbox_removed" SET "position" = greatest("position", (SELECT max(r."position") FROM removed r))
    WHERE EXISTS (SELECT FROM removed);
END
$$;
SELECT "maintain_outbox"('1 day');

-- How far this subgraph has consumed the events of others, and its own: changed in the transaction of the effect.
CREATE TABLE "feed_positions" (
    "consumer" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    -- Null before the first event.
    "position" TEXT,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT "feed_positions_pkey" PRIMARY KEY ("consumer", "source")
);
