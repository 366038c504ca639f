/** The designs of the outbox that are compared: each replaces what writes an event. ADR 24 says what they are. */

/** ADR 8: one lock for all writers until their commits are complete, a NOTIFY in each transaction. */
const ONE_LOCK = `CREATE OR REPLACE FUNCTION "next_outbox_position"() RETURNS BIGINT LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(72707371);
  PERFORM pg_notify('trestle_events', '');
  RETURN nextval('outbox_positions');
END $$`;

/** Writers fill a queue; a relay numbers what is committed, and moves it to the table that readers read. */
const RELAY = [
  `CREATE TABLE "queue" (LIKE "outbox" INCLUDING INDEXES)`,
  `CREATE SEQUENCE "queue_positions"`,
  `CREATE OR REPLACE FUNCTION "next_outbox_position"() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$ SELECT nextval('queue_positions') $$`,
  `DO $$ DECLARE "trigger" TEXT; BEGIN
    FOREACH "trigger" IN ARRAY ARRAY['emit_comment_event', 'emit_post_event'] LOOP
      EXECUTE replace(pg_get_functiondef("trigger"::regproc), '"outbox_current"', '"queue"');
    END LOOP;
  END $$`,
];
export const MOVE = `WITH moved AS (DELETE FROM "queue" RETURNING *)
  INSERT INTO "outbox_current" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
  SELECT nextval('outbox_positions'), m."id", m."type", m."subject", m."ownerId", m."audience", m."data", m."createdAt"
  FROM (SELECT * FROM moved ORDER BY "position") m`;

/**
 * By name: the statements that set it up after the migrations, and what its process reads. The second one is for comparison: it shows what any process
 * costs that reads each new row of a table.
 */
export const DESIGNS = {
  'without events': { statements: [] },
  'without events, rows read': { statements: [], reader: 'rows' },
  'one lock (ADR 8)': { statements: [ONE_LOCK], reader: 'events' },
  relay: { statements: RELAY, reader: 'relay' },
  'settled positions (ADR 24)': { statements: [], reader: 'events' },
};
