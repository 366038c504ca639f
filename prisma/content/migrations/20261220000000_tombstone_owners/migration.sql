-- Only callers who saw a post or a video that was never published learn that it was deleted (contract §3).
ALTER TABLE "tombstones" ADD COLUMN "ownerId" TEXT;

CREATE OR REPLACE FUNCTION "leave_tombstones"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'posts' THEN
        INSERT INTO "tombstones" ("id", "ownerId") SELECT "id", CASE WHEN "status" = 'DRAFT' THEN "authorId" END FROM deleted
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
