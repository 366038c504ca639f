-- Security events are kept for a time that the operator sets, at least 30 days (ADR 22). Nothing but this function deletes them: the trigger
-- refuses every other deletion, and younger events in any case.
DROP TRIGGER "security_events_append_only" ON "security_events";
CREATE TRIGGER "security_events_no_update" BEFORE UPDATE ON "security_events" FOR EACH ROW
EXECUTE FUNCTION "refuse_change"();

CREATE FUNCTION "refuse_early_deletion"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD."createdAt" < now() - interval '30 days' AND current_setting('trestle.is_sweep', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'Rows of % are never changed or deleted.', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "security_events_no_early_delete" BEFORE DELETE ON "security_events" FOR EACH ROW
EXECUTE FUNCTION "refuse_early_deletion"();

-- Deletes at most "max" events that are older than "days", the oldest first, and returns their number.
CREATE FUNCTION "sweep_security_events"("days" integer, "max" integer) RETURNS integer LANGUAGE plpgsql
SET trestle.is_sweep = 'on' AS $$
DECLARE
    "deleted" integer;
BEGIN
    DELETE FROM "security_events" WHERE "id" IN (
        SELECT "id" FROM "security_events" WHERE "createdAt" < now() - make_interval(days => greatest("days", 30))
        ORDER BY "createdAt", "id" LIMIT "max" FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS "deleted" = ROW_COUNT;
    RETURN "deleted";
END
$$;

-- Expired API keys are swept.
CREATE INDEX "api_keys_expiresAt_idx" ON "api_keys"("expiresAt");
