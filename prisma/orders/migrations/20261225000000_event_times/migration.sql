-- Times in events have the form of all others (spec §2.1). Those of jsonb have the offset of the session's time zone.
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
                'updatedAt', to_char(NEW."updatedAt" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
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
