-- Only callers who saw a comment learn that it was deleted: on a post that is not published, its author alone (contract §3).
CREATE OR REPLACE FUNCTION "leave_tombstones"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'posts' THEN
        INSERT INTO "tombstones" ("id", "ownerId") SELECT "id", CASE WHEN "status" = 'DRAFT' THEN "authorId" END FROM deleted
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

-- The foreign key deletes the comments of a post after the post, whose status is then not known any more.
CREATE FUNCTION "delete_hidden_comments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "comments" WHERE "postId" = OLD."id";
    RETURN OLD;
END
$$;
CREATE TRIGGER "posts_hidden_comments" BEFORE DELETE ON "posts" FOR EACH ROW WHEN (OLD."status" <> 'PUBLISHED')
EXECUTE FUNCTION "delete_hidden_comments"();
