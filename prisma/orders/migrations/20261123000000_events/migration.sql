-- What happened, for 24 hours: subscriptions are served from here (ADR 8). Ids and states only, no personal data.
CREATE TABLE "events" (
    "position" BIGINT NOT NULL,
    "topic" TEXT NOT NULL,
    "entityId" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("position"),
    CONSTRAINT "events_position_positive" CHECK ("position" >= 1)
);

-- Called at the end of the writer's transaction. The lock is held until that is over, so that events become visible in the order of
-- their positions and no position is left out: who has read up to one has missed nothing before it. The newest row is never swept.
-- Each statement sees what was committed when it began, hence what the last holder of the lock has written.
CREATE FUNCTION "tell"("about" TEXT, "id" TEXT, "details" JSONB) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    "at" BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(72707371);
    INSERT INTO "events" ("position", "topic", "entityId", "data", "createdAt")
    VALUES (coalesce((SELECT max(e."position") FROM "events" e), 0) + 1, "about", "id", "details", clock_timestamp())
    RETURNING "position" INTO "at";
    PERFORM pg_notify('trestle_events', "at"::text);
END
$$;

-- An order may have moved on before its event is read, so the event keeps what it tells of.
CREATE FUNCTION "tell_order_status"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "tell"('orderStatusChanged', NEW."id", jsonb_build_object(
        'orderId', NEW."id", 'customerId', NEW."customerId", 'from', OLD."status", 'to', NEW."status",
        'version', NEW."version", 'updatedAt', NEW."updatedAt"));
    RETURN NULL;
END
$$;
-- Who loads many rows at once sets trestle.events to off: that is no news.
CREATE CONSTRAINT TRIGGER "orders_status" AFTER UPDATE OF "status" ON "orders" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD."status" IS DISTINCT FROM NEW."status" AND current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "tell_order_status"();
