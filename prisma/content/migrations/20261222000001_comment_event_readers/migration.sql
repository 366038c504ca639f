-- A comment is visible to callers who may see its post: to all, or to the author of the post alone. When the post was deleted too, the
-- tombstone of the comment, which the same transaction has left, says who saw it.
CREATE OR REPLACE FUNCTION "emit_comment_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "outbox_current" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
    SELECT "next_outbox_position"(), "create_event_id"(clock_timestamp()),
        'comment.' || CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END, c."id",
        CASE WHEN c."isPublic" THEN c."authorId" ELSE coalesce(c."readerId", c."authorId") END,
        CASE WHEN c."isPublic" THEN 'PUBLIC' ELSE 'OWNER' END,
        jsonb_build_object('postId', c."postId", 'version', c."version"), clock_timestamp()
    FROM (
        SELECT r.*, coalesce(p."authorId", t."ownerId") AS "readerId",
            coalesce(p."status" = 'PUBLISHED', t."id" IS NOT NULL AND t."ownerId" IS NULL) AS "isPublic"
        FROM (SELECT coalesce(NEW."id", OLD."id") AS "id", coalesce(NEW."postId", OLD."postId") AS "postId",
            coalesce(NEW."authorId", OLD."authorId") AS "authorId", coalesce(NEW."version", OLD."version") AS "version") r
        LEFT JOIN "posts" p ON p."id" = r."postId"
        LEFT JOIN "tombstones" t ON t."id" = r."id" AND p."id" IS NULL
    ) c
    WHERE TG_OP <> 'UPDATE' OR NEW IS DISTINCT FROM OLD;
    RETURN NULL;
END
$$;
