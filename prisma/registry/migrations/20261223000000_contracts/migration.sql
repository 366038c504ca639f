-- Contracts: variants of an environment's graph by tags (ADR 45). A change of a contract is a new version; releases say what each contract serves.
CREATE TABLE "contracts" (
    "environment" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "include" TEXT[] NOT NULL,
    "exclude" TEXT[] NOT NULL,
    "removeUnreachableTypes" BOOLEAN NOT NULL,
    "isDeleted" BOOLEAN NOT NULL DEFAULT false,
    "actor" TEXT NOT NULL,
    "message" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contracts_pkey" PRIMARY KEY ("environment", "name", "version")
);

CREATE TABLE "contract_schemas" (
    "id" TEXT NOT NULL,
    "launchId" TEXT NOT NULL,
    "supergraphSdl" TEXT NOT NULL,
    "apiSdl" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contract_schemas_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "contract_schemas_launchId_fkey" FOREIGN KEY ("launchId") REFERENCES "launches"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX "contract_schemas_launchId_idx" ON "contract_schemas"("launchId");

CREATE TABLE "release_contracts" (
    "environment" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "schemaId" TEXT NOT NULL,
    "canarySchemaId" TEXT,

    CONSTRAINT "release_contracts_pkey" PRIMARY KEY ("environment", "number", "name"),
    CONSTRAINT "release_contracts_environment_number_fkey" FOREIGN KEY ("environment", "number")
      REFERENCES "releases"("environment", "number") ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "release_contracts_environment_name_version_fkey" FOREIGN KEY ("environment", "name", "version")
      REFERENCES "contracts"("environment", "name", "version") ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "release_contracts_schemaId_fkey" FOREIGN KEY ("schemaId") REFERENCES "contract_schemas"("id") ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "release_contracts_canarySchemaId_fkey" FOREIGN KEY ("canarySchemaId")
      REFERENCES "contract_schemas"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX "release_contracts_environment_name_version_idx" ON "release_contracts"("environment", "name", "version");
CREATE INDEX "release_contracts_schemaId_idx" ON "release_contracts"("schemaId");
CREATE INDEX "release_contracts_canarySchemaId_idx" ON "release_contracts"("canarySchemaId");

CREATE TRIGGER "contracts_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "contracts" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "contract_schemas_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "contract_schemas"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "release_contracts_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "release_contracts"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
