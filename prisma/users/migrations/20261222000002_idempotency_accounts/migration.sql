-- The result of a mutation under an Idempotency-Key is a whole row, such as an account with its e-mail address and biography. It goes with
-- its account; the key stays, so that a late repetition does not create the account again. Rows that were stored before this migration are
-- not found by their account: they go after their 24 hours.
ALTER TABLE "idempotency_keys" ADD COLUMN "accountId" TEXT;
CREATE INDEX "idempotency_keys_accountId_idx" ON "idempotency_keys"("accountId") WHERE "accountId" IS NOT NULL;

-- The result is an account, or a row of one. Every process stores results, also one of an earlier version, so a trigger finds the account.
CREATE FUNCTION "find_result_account"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."accountId" := CASE WHEN NEW."result"->>'id' LIKE 'usr\_%' THEN NEW."result"->>'id'
        ELSE coalesce(NEW."result"->>'userId', NEW."result"->>'ownerId') END;
    RETURN NEW;
END
$$;
CREATE TRIGGER "idempotency_keys_account" BEFORE INSERT OR UPDATE OF "result" ON "idempotency_keys" FOR EACH ROW
EXECUTE FUNCTION "find_result_account"();

-- What is left says that the result is gone (see stores/idempotency.ts of the chassis).
CREATE FUNCTION "forget_results"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "idempotency_keys" SET "result" = '{"$gone": true}' WHERE "accountId" = OLD."id";
    RETURN NULL;
END
$$;
CREATE TRIGGER "users_forget_results" AFTER DELETE ON "users" FOR EACH ROW EXECUTE FUNCTION "forget_results"();
