-- A reader sleeps only when nobody is about to notify (ADR 24). The same file in every subgraph.
-- As before, but "isSettled" is also false while a transaction holds the second lock: its notification can arrive before the lock is released, and a
-- writer that does not get the lock in between does not notify. When nobody holds it, a writer that did not notify before this look had its first lock or
-- had ended by then, so the look took account of it; and one that does not notify later leaves it to a transaction that got the second
-- lock after the look, whose notification is still to come.
-- The sequence is read before the locks, in a statement of its own: a transaction that has drawn a position up to "bound" held its
-- first lock by then. It is read again after them, for positions that were drawn meanwhile.
-- The first lock has 31 bits of the position; one that is not within the last 2^30 was taken after the sequence was read.
CREATE OR REPLACE FUNCTION "read_outbox_bounds"(OUT "oldest" BIGINT, OUT "settled" BIGINT, OUT "newest" BIGINT, OUT "isSettled" BOOLEAN)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "bound" BIGINT;
    "unsettled" BIGINT;
    "isHeld" BOOLEAN;
BEGIN
    SELECT "last_value" INTO "bound" FROM "outbox_positions";
    SELECT max(l."distance") FILTER (WHERE l."classid" = 72707371 AND l."distance" < 1073741824),
        coalesce(bool_or(l."classid" = 72707372 AND l."objid" = 0), false)
    INTO "unsettled", "isHeld" FROM (
        SELECT "classid", "objid", ("bound" - "objid"::bigint) & 2147483647 AS "distance" FROM pg_locks
        WHERE "locktype" = 'advisory' AND "objsubid" = 2 AND "classid" IN (72707371, 72707372) AND "granted"
          AND "database" = (SELECT d."oid" FROM pg_database d WHERE d."datname" = current_database())
    ) l;
    "bound" := "bound" - coalesce("unsettled", 0);
    SELECT r."position" + 1, coalesce((SELECT max(o."position") FROM "outbox" o WHERE o."position" <= "bound"), r."position"),
        coalesce((SELECT max(o."position") FROM "outbox" o), r."position"), "bound" >= p."last_value" AND NOT "isHeld"
    INTO "oldest", "settled", "newest", "isSettled" FROM "outbox_removed" r, "outbox_positions" p;
END
$$;
DROP FUNCTION "read_settled_position"();
