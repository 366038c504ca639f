-- Which changes are events, by triggers that run last in the transaction of the change (ADR 24). Their locks on the changed rows are
-- still held then, so that the events of one row have the order of its changes. trestle.events = off suppresses them for bulk loads.
CREATE FUNCTION "emit_order_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM "emit_event"('order.created', NEW."id", jsonb_build_object('status', NEW."status", 'version', NEW."version"),
            NEW."customerId", 'OWNER');
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM "emit_event"('order.deleted', OLD."id", jsonb_build_object('version', OLD."version"), OLD."customerId", 'OWNER');
    -- An order may have moved on before its event is read, so the event keeps what it reports.
    ELSIF NEW."status" <> OLD."status" THEN
        PERFORM "emit_event"('order.' || lower(NEW."status"::text), NEW."id", jsonb_build_object(
            'from', OLD."status", 'status', NEW."status", 'version', NEW."version", 'updatedAt', NEW."updatedAt"),
            NEW."customerId", 'OWNER');
    ELSIF NEW IS DISTINCT FROM OLD THEN
        PERFORM "emit_event"('order.updated', NEW."id", jsonb_build_object('status', NEW."status", 'version', NEW."version"),
            NEW."customerId", 'OWNER');
    END IF;
    RETURN NULL;
END
$$;
DROP TRIGGER "orders_status" ON "orders";
DROP FUNCTION "tell_order_status"();
CREATE CONSTRAINT TRIGGER "orders_events" AFTER INSERT OR UPDATE OR DELETE ON "orders" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_order_event"();

CREATE FUNCTION "emit_payment_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "payments" := coalesce(NEW, OLD);
    "details" CONSTANT JSONB := jsonb_build_object(
        'status', "changed"."status", 'orderId', "changed"."orderId", 'version', "changed"."version");
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM "emit_event"('payment.created', NEW."id", "details", NEW."customerId", 'OWNER');
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM "emit_event"('payment.deleted', OLD."id", "details", OLD."customerId", 'OWNER');
    ELSIF NEW."status" <> OLD."status" AND NEW."status" = 'REFUNDED' THEN
        PERFORM "emit_event"('payment.refunded', NEW."id", "details", NEW."customerId", 'OWNER');
    ELSIF NEW IS DISTINCT FROM OLD THEN
        PERFORM "emit_event"('payment.updated', NEW."id", "details", NEW."customerId", 'OWNER');
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "payments_events" AFTER INSERT OR UPDATE OR DELETE ON "payments" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_payment_event"();

-- Of the stock, clients see only whether there is any: an order of one piece changes no product for them.
CREATE FUNCTION "emit_product_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "changed" CONSTANT "products" := coalesce(NEW, OLD);
BEGIN
    PERFORM "emit_event"('product.' || CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END,
        "changed"."id"::text, jsonb_build_object('version', "changed"."version"), NULL, 'PUBLIC');
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER "products_events" AFTER INSERT OR DELETE ON "products" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_product_event"();
CREATE CONSTRAINT TRIGGER "products_update_events" AFTER UPDATE ON "products" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((
    (NEW."name", NEW."description", NEW."category", NEW."price", NEW."currency", NEW."stock" > 0)
    IS DISTINCT FROM (OLD."name", OLD."description", OLD."category", OLD."price", OLD."currency", OLD."stock" > 0))
     AND current_setting('trestle.events', true) IS DISTINCT FROM 'off')
EXECUTE FUNCTION "emit_product_event"();
DROP FUNCTION "tell"(TEXT, TEXT, JSONB);

-- The events so far: clients and processes resume behind their positions.
LOCK TABLE "events" IN ACCESS EXCLUSIVE MODE;
INSERT INTO "outbox" ("position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt")
SELECT "position", "create_event_id"("createdAt"), 'order.' || lower("data" ->> 'to'), "entityId", "data" ->> 'customerId', 'OWNER', jsonb_build_object(
    'from', "data" -> 'from', 'status', "data" -> 'to', 'version', "data" -> 'version', 'updatedAt', "data" -> 'updatedAt'), "createdAt" FROM "events";
UPDATE "outbox_removed" SET "position" = coalesce((SELECT min("position") - 1 FROM "events"), 0);
SELECT setval('outbox_positions', coalesce((SELECT max("position") FROM "events"), 0));
DROP TABLE "events";
