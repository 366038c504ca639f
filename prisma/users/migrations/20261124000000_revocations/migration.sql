-- Which tokens hold no longer (ADR 10). Each token carries its account's generation, as read together with the role that it tells.
ALTER TABLE "users" ADD COLUMN "tokenGeneration" INTEGER NOT NULL DEFAULT 0;

-- What a token says of its account, or lets it do, is no longer so: whoever changes that, by whatever way, ends all tokens given so far.
CREATE FUNCTION "end_tokens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."tokenGeneration" := OLD."tokenGeneration" + 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER "users_end_tokens" BEFORE UPDATE ON "users" FOR EACH ROW
WHEN (
    NEW."role" IS DISTINCT FROM OLD."role"
    OR NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash"
    OR (OLD."isActive" AND NOT NEW."isActive")
)
EXECUTE FUNCTION "end_tokens"();

-- Told like any event, in the writer's transaction; also when trestle.events is off: whether a token holds is more than news.
CREATE FUNCTION "tell_tokens_revoked"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM "tell"('tokensRevoked', OLD."id", jsonb_build_object('generation', OLD."tokenGeneration" + 1));
    ELSE
        PERFORM "tell"('tokensRevoked', NEW."id", jsonb_build_object('generation', NEW."tokenGeneration"));
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "users_tokens_revoked" AFTER UPDATE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW."tokenGeneration" <> OLD."tokenGeneration")
EXECUTE FUNCTION "tell_tokens_revoked"();
CREATE CONSTRAINT TRIGGER "users_tokens_gone" AFTER DELETE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION "tell_tokens_revoked"();
