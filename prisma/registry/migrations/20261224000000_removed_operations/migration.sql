-- Operations of versions that no client uses any more can be removed. A trigger still refuses to change one.
DROP TRIGGER "operations_append_only" ON "operations";
CREATE TRIGGER "operations_unchanged" BEFORE UPDATE OR TRUNCATE ON "operations" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
