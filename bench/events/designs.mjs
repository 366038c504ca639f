/** The designs of the outbox that are compared: each replaces the function that writes an event. ADR 24 says what they are. */

const INSERT = `INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")`;
const HEAD = `CREATE OR REPLACE FUNCTION "emit_event"("eventType" TEXT, "entity" TEXT, "details" JSONB, "owner" TEXT, "readers" TEXT)
  RETURNS void LANGUAGE plpgsql AS $$ BEGIN`;

/** ADR 8: one lock for all writers until their commits are complete, positions without gaps, a NOTIFY in each transaction. */
const ONE_LOCK = `${HEAD}
  PERFORM pg_advisory_xact_lock(72707371);
  ${INSERT} VALUES (coalesce((SELECT max(o."position") FROM "outbox" o), 0) + 1, "create_event_id"(clock_timestamp()), "eventType", "entity",
    "owner", "readers", "details", clock_timestamp());
  PERFORM pg_notify('trestle_events', '');
END $$`;

/** Writers fill a queue; a relay numbers what is committed, and moves it to the table that readers read. */
const RELAY = [
  `CREATE TABLE "queue" ("number" BIGSERIAL PRIMARY KEY, "type" TEXT, "subject" TEXT, "ownerId" TEXT, "audience" TEXT, "data" JSONB, "at" TIMESTAMPTZ)`,
  `${HEAD}
  INSERT INTO "queue" ("type", "subject", "ownerId", "audience", "data", "at")
  VALUES ("eventType", "entity", "owner", "readers", "details", clock_timestamp());
END $$`,
];
export const MOVE = `WITH moved AS (DELETE FROM "queue" RETURNING *)
  ${INSERT} SELECT nextval('outbox_positions'), "create_event_id"(m."at"), m."type", m."subject", m."ownerId", m."audience", m."data", m."at"
  FROM (SELECT * FROM moved ORDER BY "number") m`;

/** By name: the statements that set it up after the migrations. */
export const DESIGNS = { 'without events': [], 'one lock (ADR 8)': [ONE_LOCK], relay: RELAY, 'settled positions (ADR 24)': [] };
