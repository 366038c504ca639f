-- Jobs (ADR 26): work that goes on after the response to its request. The queue itself is in the schema graphile_worker, which the processes
-- create when they start; the same in every subgraph with jobs.
CREATE TYPE "JobStatus" AS ENUM ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED');

CREATE TABLE "jobs" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" "JobStatus" NOT NULL DEFAULT 'QUEUED',
    "progress" INTEGER NOT NULL DEFAULT 0,
    "input" JSONB NOT NULL,
    "result" JSONB,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "ownerId" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "jobs_progress" CHECK ("progress" BETWEEN 0 AND 100)
);
CREATE INDEX "jobs_status_id_idx" ON "jobs"("status", "id");
CREATE INDEX "jobs_kind_id_idx" ON "jobs"("kind", "id");
CREATE INDEX "jobs_ownerId_id_idx" ON "jobs"("ownerId", "id");

-- When each worker was last seen. A job whose worker is not seen any more is taken over.
CREATE TABLE "job_workers" (
    "id" TEXT NOT NULL,
    "seenAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "job_workers_pkey" PRIMARY KEY ("id")
);
