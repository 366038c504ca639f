-- Which changes are events, by triggers that run last in the transaction of the change (ADR 24). Their locks on the changed rows are
-- still held then, so that the events of one row have the order of its changes. trestle.events = off suppresses them for bulk loads.
CREATE FUNCTION "emit_post_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "posts" := coalesce(NEW, OLD);
    "details" CONSTANT JSONB := jsonb_build_object('status', "changed"."status", 'version', "changed"."version");
    -- Those who could see the post before a change learn of it too.
    "readers" TEXT := CASE WHEN "changed"."status" = 'PUBLISHED' THEN 'PUBLIC' ELSE 'OWNER' END;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM "emit_event"('post.created', NEW."id", "details", NEW."authorId", "readers");
        IF NEW."status" <> 'DRAFT' THEN
            PERFORM "emit_event"('post.' || lower(NEW."status"::text), NEW."id", "details", NEW."authorId", "readers");
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM "emit_event"('post.deleted', OLD."id", "details", OLD."authorId", "readers");
    ELSE
        IF OLD."status" = 'PUBLISHED' THEN
            "readers" := 'PUBLIC';
        END IF;
        IF NEW."status" <> OLD."status" AND NEW."status" <> 'DRAFT' THEN
            PERFORM "emit_event"('post.' || lower(NEW."status"::text), NEW."id", "details", NEW."authorId", "readers");
        ELSIF NEW IS DISTINCT FROM OLD THEN
            PERFORM "emit_event"('post.updated', NEW."id", "details", NEW."authorId", "readers");
        END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "posts_events" AFTER INSERT OR UPDATE OR DELETE ON "posts" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_post_event"();

-- A comment is visible to callers who may see its post: to all, or to the author of the post alone.
CREATE FUNCTION "emit_comment_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "comments" := coalesce(NEW, OLD);
    "owner" TEXT := "changed"."authorId";
    "isPublished" BOOLEAN := false;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW IS NOT DISTINCT FROM OLD THEN
        RETURN NULL;
    END IF;
    SELECT p."status" = 'PUBLISHED', CASE WHEN p."status" = 'PUBLISHED' THEN "owner" ELSE p."authorId" END
    INTO "isPublished", "owner" FROM "posts" p WHERE p."id" = "changed"."postId";
    PERFORM "emit_event"('comment.' || CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END,
        "changed"."id", jsonb_build_object('postId', "changed"."postId", 'version', "changed"."version"),
        coalesce("owner", "changed"."authorId"), CASE WHEN "isPublished" THEN 'PUBLIC' ELSE 'OWNER' END);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "comments_events" AFTER INSERT OR UPDATE OR DELETE ON "comments" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_comment_event"();

CREATE FUNCTION "emit_video_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "videos" := coalesce(NEW, OLD);
    "details" CONSTANT JSONB := jsonb_build_object('status', "changed"."status", 'version', "changed"."version");
    "readers" CONSTANT TEXT := CASE
        WHEN "changed"."status" = 'PUBLISHED' OR TG_OP = 'UPDATE' AND OLD."status" = 'PUBLISHED' THEN 'PUBLIC' ELSE 'OWNER' END;
    "change" TEXT := 'updated';
BEGIN
    IF TG_OP = 'UPDATE' AND NEW IS NOT DISTINCT FROM OLD THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        "change" := 'created';
    ELSIF TG_OP = 'DELETE' THEN
        "change" := 'deleted';
    ELSIF NEW."status" <> OLD."status" AND NEW."status" IN ('PUBLISHED', 'FAILED') THEN
        "change" := lower(NEW."status"::text);
    END IF;
    PERFORM "emit_event"('video.' || "change", "changed"."id", "details", "changed"."ownerId", "readers");
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "videos_events" AFTER INSERT OR UPDATE OR DELETE ON "videos" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_video_event"();

CREATE FUNCTION "emit_message_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "messages" := coalesce(NEW, OLD);
BEGIN
    IF TG_OP <> 'UPDATE' OR NEW IS DISTINCT FROM OLD THEN
        PERFORM "emit_event"('message.' || CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END,
            "changed"."id", jsonb_build_object('channelId', "changed"."channelId", 'version', "changed"."version"),
            "changed"."authorId", 'USER');
    END IF;
    RETURN NULL;
END
$$;
DROP TRIGGER "messages_added" ON "messages";
DROP FUNCTION "tell_message_added"();
CREATE CONSTRAINT TRIGGER "messages_events" AFTER INSERT OR UPDATE OR DELETE ON "messages" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_message_event"();
DROP FUNCTION "tell"(TEXT, TEXT, JSONB);

-- The events so far: clients and processes resume behind their positions.
LOCK TABLE "events" IN ACCESS EXCLUSIVE MODE;
INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
SELECT "position", "create_event_id"("createdAt"), 'message.added', "entityId", (SELECT m."authorId" FROM "messages" m WHERE m."id" = "entityId"), 'USER', "data", "createdAt" FROM "events";
UPDATE "outbox_removed" SET "position" = coalesce((SELECT min("position") - 1 FROM "events"), 0);
SELECT setval('outbox_positions', coalesce((SELECT max("position") FROM "events"), 0));
DROP TABLE "events";
