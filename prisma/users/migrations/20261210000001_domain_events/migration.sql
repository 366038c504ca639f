-- Which changes are events, by triggers that run last in the transaction of the change (ADR 24). Their locks on the changed rows are
-- still held then, so that the events of one row have the order of its changes. trestle.events = off suppresses them for bulk loads.
CREATE FUNCTION "emit_user_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "users" := coalesce(NEW, OLD);
    "details" CONSTANT JSONB := jsonb_build_object('version', "changed"."version");
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM "emit_event"('user.created', NEW."id", "details", NEW."id", 'PUBLIC');
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM "emit_event"('user.deleted', OLD."id", "details", OLD."id", 'PUBLIC');
    -- What only the owner can see changes in secret.
    ELSIF (NEW."name", NEW."bio", NEW."age", NEW."role", NEW."isActive")
        IS DISTINCT FROM (OLD."name", OLD."bio", OLD."age", OLD."role", OLD."isActive") THEN
        PERFORM "emit_event"('user.updated', NEW."id", "details", NEW."id", 'PUBLIC');
    ELSIF (NEW."email", NEW."plan", NEW."requestsPerMinute", NEW."passwordHash", NEW."version")
        IS DISTINCT FROM (OLD."email", OLD."plan", OLD."requestsPerMinute", OLD."passwordHash", OLD."version") THEN
        PERFORM "emit_event"('user.updated', NEW."id", "details", NEW."id", 'OWNER');
    END IF;
    RETURN NULL;
END
$$;
DROP TRIGGER "users_created" ON "users";
DROP FUNCTION "tell_user_created"();
CREATE CONSTRAINT TRIGGER "users_events" AFTER INSERT OR UPDATE OR DELETE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_user_event"();

-- Revoked tokens (ADR 10) are no news for others, and are written whatever trestle.events says.
CREATE FUNCTION "emit_revocation"("userId" TEXT, "details" JSONB) RETURNS void LANGUAGE sql AS $$
    SELECT "emit_event"('tokens.revoked', "userId", "details", "userId", NULL)
$$;
CREATE OR REPLACE FUNCTION "tell_tokens_revoked"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM "emit_revocation"(OLD."id", jsonb_build_object('generation', OLD."tokenGeneration" + 1));
    ELSE
        PERFORM "emit_revocation"(NEW."id", jsonb_build_object('generation', NEW."tokenGeneration"));
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION "revoke_api_key_tokens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "emit_revocation"(OLD."userId", jsonb_build_object('sessionId', OLD."id"));
    RETURN NULL;
END
$$;
ALTER FUNCTION "tell_tokens_revoked"() RENAME TO "emit_tokens_revoked";
DROP FUNCTION "tell"(TEXT, TEXT, JSONB);
CREATE INDEX "outbox_revocations_idx" ON "outbox"("createdAt") WHERE "type" = 'tokens.revoked';

-- The events so far: clients and processes resume behind their positions.
LOCK TABLE "events" IN ACCESS EXCLUSIVE MODE;
INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
SELECT "position", "create_event_id"("createdAt"), CASE "topic" WHEN 'userCreated' THEN 'user.created' ELSE 'tokens.revoked' END, "entityId", "entityId", CASE "topic" WHEN 'userCreated' THEN 'PUBLIC' END, "data", "createdAt" FROM "events";
UPDATE "outbox_removed" SET "position" = coalesce((SELECT min("position") - 1 FROM "events"), 0);
SELECT setval('outbox_positions', coalesce((SELECT max("position") FROM "events"), 0));
DROP TABLE "events";
