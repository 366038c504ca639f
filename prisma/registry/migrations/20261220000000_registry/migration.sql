-- Versions, launches, releases, checks, approvals and operations are append-only: a trigger refuses their change.
CREATE TABLE "subgraph_versions" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "sdl" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subgraph_versions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "launches" (
    "id" TEXT NOT NULL,
    "composer" TEXT NOT NULL,
    "versions" TEXT[] NOT NULL,
    "supergraphSdl" TEXT NOT NULL,
    "apiSdl" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "launches_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "releases" (
    "environment" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "launchId" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "promotedFrom" TEXT,
    "actor" TEXT NOT NULL,
    "message" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "releases_pkey" PRIMARY KEY ("environment", "number"),
    CONSTRAINT "releases_launchId_fkey" FOREIGN KEY ("launchId") REFERENCES "launches"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX "releases_launchId_idx" ON "releases"("launchId");

CREATE TABLE "checks" (
    "id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "subgraphs" TEXT[] NOT NULL,
    "launchId" TEXT,
    "result" JSONB NOT NULL,
    "actor" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "checks_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "checks_environment_createdAt_idx" ON "checks"("environment", "createdAt" DESC, "id" DESC);

CREATE TABLE "approvals" (
    "checkId" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "changes" TEXT[] NOT NULL,
    "approver" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("checkId"),
    CONSTRAINT "approvals_checkId_fkey" FOREIGN KEY ("checkId") REFERENCES "checks"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX "approvals_changes_idx" ON "approvals" USING GIN ("changes");

CREATE TABLE "operations" (
    "id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "operations_environment_client_hash_key" ON "operations"("environment", "client", "hash");
CREATE INDEX "operations_environment_client_name_id_idx" ON "operations"("environment", "client", "name", "id");

CREATE TABLE "tokens" (
    "id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "subgraphs" TEXT[],
    "environments" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "tokens_hash_key" ON "tokens"("hash");

CREATE FUNCTION "refuse_change"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Rows of % are never changed or deleted', TG_TABLE_NAME;
END $$;

CREATE TRIGGER "subgraph_versions_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "subgraph_versions"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "launches_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "launches" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "releases_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "releases" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "checks_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "checks" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "approvals_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "approvals" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "operations_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "operations" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
