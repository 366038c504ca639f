-- An API key that is deleted, also with its account, leaves a tombstone (contract §2).
CREATE FUNCTION "bury_api_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "tombstones" ("id", "ownerId") VALUES (OLD."id", OLD."userId") ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER "api_keys_buried" AFTER DELETE ON "api_keys" FOR EACH ROW EXECUTE FUNCTION "bury_api_key"();
