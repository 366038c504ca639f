-- Whether a caller learns that a comment was deleted follows its post as it is now, and so needs the id of the post: one that is hidden later
-- hides its deleted comments too (contract §3). The author of a deleted post says below which account it was. Earlier tombstones have neither.
ALTER TABLE "tombstones" ADD COLUMN "postId" TEXT, ADD COLUMN "authorId" TEXT;

CREATE OR REPLACE FUNCTION "leave_tombstones"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'posts' THEN
        INSERT INTO "tombstones" ("id", "ownerId", "authorId")
        SELECT "id", CASE WHEN "status" <> 'PUBLISHED' THEN "authorId" END, "authorId" FROM deleted
        ON CONFLICT DO NOTHING;
    ELSIF TG_TABLE_NAME = 'comments' THEN
        INSERT INTO "tombstones" ("id", "ownerId", "postId")
        SELECT d."id", CASE WHEN p."status" <> 'PUBLISHED' THEN p."authorId" END, d."postId"
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
