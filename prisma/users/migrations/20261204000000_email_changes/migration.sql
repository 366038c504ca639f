-- A new e-mail address decides who may set a new password: like a new password it revokes the tokens of the account, and ends its sessions
-- and OAuth grants, whichever program makes the change.
DROP TRIGGER "users_end_tokens" ON "users";
CREATE TRIGGER "users_end_tokens" BEFORE UPDATE ON "users" FOR EACH ROW
WHEN (
    NEW."role" IS DISTINCT FROM OLD."role"
    OR NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash"
    OR NEW."email" IS DISTINCT FROM OLD."email"
    OR (OLD."isActive" AND NOT NEW."isActive")
)
EXECUTE FUNCTION "end_tokens"();

DROP TRIGGER "users_end_sessions" ON "users";
CREATE TRIGGER "users_end_sessions" AFTER UPDATE ON "users" FOR EACH ROW
WHEN (
    NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash"
    OR NEW."email" IS DISTINCT FROM OLD."email"
    OR (OLD."isActive" AND NOT NEW."isActive")
)
EXECUTE FUNCTION "end_sessions"();
