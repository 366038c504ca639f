-- Requests per minute that an enterprise account has instead of those of its plan (spec §8).
ALTER TABLE "users" ADD COLUMN "requestsPerMinute" INTEGER,
    ADD CONSTRAINT "users_requestsPerMinute_positive" CHECK ("requestsPerMinute" BETWEEN 1 AND 1000000);
