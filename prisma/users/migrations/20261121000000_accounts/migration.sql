-- Trigrams let `search` find text in the middle of a name or a bio by index; the extension is trusted, so that no superuser is needed.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TYPE "Role" AS ENUM ('USER', 'MODERATOR', 'ADMIN');
CREATE TYPE "Plan" AS ENUM ('free', 'pro', 'enterprise');

CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "bio" TEXT,
    "age" INTEGER,
    "role" "Role" NOT NULL DEFAULT 'USER',
    "plan" "Plan" NOT NULL DEFAULT 'free',
    "isActive" BOOLEAN NOT NULL DEFAULT true,
    "passwordHash" TEXT,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "users_name_length" CHECK (char_length("name") BETWEEN 1 AND 100),
    CONSTRAINT "users_bio_length" CHECK (char_length("bio") <= 2000),
    CONSTRAINT "users_age_range" CHECK ("age" BETWEEN 0 AND 150),
    CONSTRAINT "users_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revokedAt" TIMESTAMPTZ(0),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_keys_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "api_keys_hash_sha256" CHECK (octet_length("hash") = 32)
);

CREATE TABLE "tombstones" (
    "id" TEXT NOT NULL,
    "deletedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("id")
);

-- One index for each filter and sort of `usersConnection`; the id behind each breaks ties.
CREATE UNIQUE INDEX "users_email_key" ON "users"(lower("email"));
CREATE INDEX "users_email_id_idx" ON "users"("email", "id");
CREATE INDEX "users_name_id_idx" ON "users"("name", "id");
CREATE INDEX "users_role_id_idx" ON "users"("role", "id");
CREATE INDEX "users_isActive_id_idx" ON "users"("isActive", "id");
CREATE INDEX "users_createdAt_id_idx" ON "users"("createdAt", "id");
CREATE INDEX "users_updatedAt_id_idx" ON "users"("updatedAt", "id");
CREATE INDEX "users_age_asc_idx" ON "users"("age" ASC NULLS LAST, "id");
CREATE INDEX "users_age_desc_idx" ON "users"("age" DESC NULLS LAST, "id" DESC);
CREATE INDEX "users_search_idx" ON "users" USING GIN ("name" gin_trgm_ops, "bio" gin_trgm_ops);

CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
CREATE INDEX "api_keys_userId_idx" ON "api_keys"("userId");
