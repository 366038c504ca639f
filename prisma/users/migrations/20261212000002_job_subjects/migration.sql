-- What a job is about, such as a video: by it the job that runs for a resource is found.
ALTER TABLE "jobs" ADD COLUMN "subjectId" TEXT;
CREATE INDEX "jobs_subjectId_id_idx" ON "jobs"("subjectId", "id");
