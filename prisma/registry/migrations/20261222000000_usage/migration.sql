-- What clients send (ADR 44): added up by hour and by day, in partitions of one day, which the processes create and drop. Sums by operation and by
-- client alone are what the lists of the API read.
CREATE TABLE "usage_operations" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "environment" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "name" TEXT,
    "text" TEXT,
    "uses" TEXT[] NOT NULL,
    "firstSeen" TIMESTAMPTZ(3) NOT NULL,
    "lastSeen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_operations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "usage_operations_environment_hash_key" ON "usage_operations"("environment", "hash");
CREATE INDEX "usage_operations_uses_idx" ON "usage_operations" USING GIN ("uses");

CREATE TABLE "usage_clients" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "environment" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "lastSeen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_clients_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "usage_clients_environment_name_version_key" ON "usage_clients"("environment", "name", "version");

CREATE TABLE "usage_reports" (
    "id" UUID NOT NULL,
    "day" DATE NOT NULL,

    CONSTRAINT "usage_reports_pkey" PRIMARY KEY ("id", "day")
) PARTITION BY RANGE ("day");

CREATE TABLE "usage_hours" (
    "environment" TEXT NOT NULL,
    "operationId" BIGINT NOT NULL,
    "clientId" BIGINT NOT NULL,
    "day" DATE NOT NULL,
    "hour" SMALLINT NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,

    CONSTRAINT "usage_hours_pkey" PRIMARY KEY ("environment", "operationId", "clientId", "day", "hour")
) PARTITION BY RANGE ("day");

CREATE TABLE "usage_days" (
    "environment" TEXT NOT NULL,
    "operationId" BIGINT NOT NULL,
    "clientId" BIGINT NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "lastSeen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("environment", "operationId", "clientId", "day")
) PARTITION BY RANGE ("day");

CREATE TABLE "usage_operation_days" (
    "environment" TEXT NOT NULL,
    "operationId" BIGINT NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "durations" BIGINT[] NOT NULL,
    "lastSeen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_operation_days_pkey" PRIMARY KEY ("environment", "operationId", "day")
) PARTITION BY RANGE ("day");

CREATE TABLE "usage_client_days" (
    "environment" TEXT NOT NULL,
    "clientId" BIGINT NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "lastSeen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_client_days_pkey" PRIMARY KEY ("environment", "clientId", "day")
) PARTITION BY RANGE ("day");

CREATE FUNCTION "add_durations"(a BIGINT[], b BIGINT[]) RETURNS BIGINT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(x + y ORDER BY i) FROM unnest(a, b) WITH ORDINALITY AS t(x, y, i)
$$;
