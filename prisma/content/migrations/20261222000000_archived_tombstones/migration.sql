-- Only callers who saw a post learn that it was deleted: an archived one, as a draft, its author alone (contract §3). Those that were deleted
-- before keep their tombstones, since their status is not known any more.
CREATE OR REPLACE FUNCTION "leave_tombstones"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'posts' THEN
        INSERT INTO "tombstones" ("id", "ownerId") SELECT "id", CASE WHEN "status" <> 'PUBLISHED' THEN "authorId" END FROM deleted
        ON CONFLICT DO NOTHING;
    ELSIF TG_TABLE_NAME = 'comments' THEN
        INSERT INTO "tombstones" ("id", "ownerId") SELECT d."id", CASE WHEN p."status" <> 'PUBLISHED' THEN p."authorId" END
        FROM deleted d LEFT JOIN "posts" p ON p."id" = d."postId"
        ON CONFLICT DO NOTHING;
    ELSIF TG_TABLE_NAME = 'videos' THEN
        INSERT INTO "tombstones" ("id", "ownerId") SELECT "id", CASE WHEN "status" <> 'PUBLISHED' THEN "ownerId" END FROM deleted
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO "tombstones" ("id") SELECT "id" FROM deleted ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
