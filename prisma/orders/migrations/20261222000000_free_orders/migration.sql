-- An order with nothing to pay is placed as paid: no payment has the amount 0. It reports both steps, as if one had followed the other.
CREATE OR REPLACE FUNCTION "emit_order_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "outbox_current" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
    SELECT "next_outbox_position"(), "create_event_id"(clock_timestamp()), 'order.' || e."change",
        coalesce(NEW."id", OLD."id"), coalesce(NEW."customerId", OLD."customerId"), 'OWNER',
        CASE
            WHEN TG_OP = 'DELETE' THEN jsonb_build_object('version', OLD."version")
            WHEN TG_OP = 'INSERT' AND e."change" = 'created' AND NEW."status" = 'PAID'
                THEN jsonb_build_object('status', 'PENDING', 'version', greatest(NEW."version" - 1, 1))
            WHEN e."change" IN ('created', 'updated') THEN jsonb_build_object('status', NEW."status", 'version', NEW."version")
            -- An order may have moved on before its event is read, so the event keeps what it reports.
            ELSE jsonb_build_object('from', coalesce(OLD."status", 'PENDING'), 'status', NEW."status", 'version', NEW."version",
                'updatedAt', NEW."updatedAt")
        END,
        clock_timestamp()
    FROM unnest(CASE
        WHEN TG_OP = 'DELETE' THEN ARRAY['deleted']
        WHEN TG_OP = 'INSERT' AND NEW."status" = 'PAID' THEN ARRAY['created', 'paid']
        WHEN TG_OP = 'INSERT' THEN ARRAY['created']
        WHEN NEW."status" <> OLD."status" THEN ARRAY[lower(NEW."status"::text)]
        WHEN NEW IS DISTINCT FROM OLD THEN ARRAY['updated']
    END) e("change");
    RETURN NULL;
END
$$;

-- Those that were placed before wait for a payment that is refused. The events of this update follow the commit.
UPDATE "orders" SET "status" = 'PAID', "updatedAt" = CURRENT_TIMESTAMP, "version" = "version" + 1 WHERE "status" = 'PENDING' AND "total" = 0;
