-- A delivery that is cancelled keeps its lease: when its request is in flight, the result of the attempt is still written. It is not tried
-- again.
CREATE OR REPLACE FUNCTION "cancel_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "webhook_deliveries" SET "status" = 'CANCELLED', "nextAttemptAt" = NULL, "completedAt" = clock_timestamp()
    WHERE "webhookId" = NEW."id" AND "status" = 'WAITING';
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "cancel_hidden_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "webhook_deliveries" d SET "status" = 'CANCELLED', "nextAttemptAt" = NULL, "completedAt" = clock_timestamp()
    FROM "webhooks" w WHERE w."userId" = NEW."id" AND d."webhookId" = w."id" AND d."status" = 'WAITING' AND d."kind" <> 'PING'
        AND NOT (NEW."isActive" AND "may_learn"(d."audience", d."eventType", d."event"->>'ownerId', NEW."id", NEW."role"::text));
    RETURN NULL;
END
$$;
