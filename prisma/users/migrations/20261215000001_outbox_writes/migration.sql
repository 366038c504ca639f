-- What an event costs its writer (ADR 24). The same file in every subgraph.

-- PostgreSQL parses and compiles the CHECK constraints of a table for each INSERT that a trigger sends, which took a third of the time of an
-- event. Only triggers write here: positions are those of the sequence, and audiences constants of the triggers.
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_position_positive", DROP CONSTRAINT "outbox_audience";

-- As before, but a transaction tries once to notify, after its first event: by then its lock and its position can be seen by the reader that
-- the holder of the second lock wakes. A savepoint that is rolled back takes the setting and the locks with it.
CREATE OR REPLACE FUNCTION "emit_event"("eventType" TEXT, "entity" TEXT, "details" JSONB, "owner" TEXT, "readers" TEXT)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    "at" CONSTANT TIMESTAMPTZ := clock_timestamp();
    "isFirst" CONSTANT BOOLEAN := coalesce(current_setting('trestle.outbox', true), '') = '';
BEGIN
    IF "isFirst" THEN
        PERFORM pg_advisory_xact_lock_shared(72707371, ("last_value" & 2147483647)::int) FROM "outbox_positions";
        PERFORM set_config('trestle.outbox', 'locked', true);
    END IF;
    INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
    VALUES (nextval('outbox_positions'), "create_event_id"("at"), "eventType", "entity", "owner", "readers", "details", "at");
    IF "isFirst" THEN
        IF pg_try_advisory_xact_lock(72707372, 0) THEN
            PERFORM pg_notify('trestle_events', '');
        END IF;
    END IF;
END
$$;

-- Returns what a reader needs to know in one round trip: the first position that is kept, the last before which no event will appear any more, the
-- last that is stored, and whether no transaction is about to commit events. Each statement of a volatile function has a snapshot of its
-- own: that of the second must be younger than the bound.
CREATE FUNCTION "read_outbox_bounds"(OUT "oldest" BIGINT, OUT "settled" BIGINT, OUT "newest" BIGINT, OUT "isSettled" BOOLEAN)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "bound" CONSTANT BIGINT := "read_settled_position"();
BEGIN
    SELECT r."position" + 1, coalesce((SELECT max(o."position") FROM "outbox" o WHERE o."position" <= "bound"), r."position"),
        coalesce((SELECT max(o."position") FROM "outbox" o), r."position"), "bound" >= p."last_value"
    INTO "oldest", "settled", "newest", "isSettled" FROM "outbox_removed" r, "outbox_positions" p;
END
$$;
