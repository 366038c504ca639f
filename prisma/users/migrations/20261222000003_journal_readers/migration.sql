-- Readers of the journal read it by these indexes, so that their pages cost the same however many events concern others
-- (subgraphs/users/src/journal/readable-events.ts). While they are created, events are not appended and arrive later, by the retries of their
-- consumers; writes of clients and reads go on.
CREATE INDEX "journal_own_idx" ON "journal"("ownerId", "position") WHERE "audience" = 'OWNER';
CREATE INDEX "journal_open_idx" ON "journal"("position") WHERE "audience" IN ('PUBLIC', 'USER');
CREATE INDEX "journal_family_idx" ON "journal"("audience", split_part("type", '.', 1), "position");
