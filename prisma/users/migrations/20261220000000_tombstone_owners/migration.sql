-- Only its account and administrators see an API key or a webhook, and only they learn that it was deleted (contract §3).
ALTER TABLE "tombstones" ADD COLUMN "ownerId" TEXT;

-- The owners of those that were deleted before are not known: only administrators learn of them.
UPDATE "tombstones" SET "ownerId" = '' WHERE "id" LIKE 'key\_%' OR "id" LIKE 'whk\_%';

CREATE OR REPLACE FUNCTION "bury_webhook"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "tombstones" ("id", "ownerId") VALUES (OLD."id", OLD."userId") ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
