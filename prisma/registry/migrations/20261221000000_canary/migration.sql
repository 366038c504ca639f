-- A release may serve another launch to a share of requests: its canary (ADR 43).
ALTER TABLE "releases" ADD COLUMN "canaryLaunchId" TEXT, ADD COLUMN "canaryPercent" INTEGER;
ALTER TABLE "releases" ADD CONSTRAINT "releases_canaryLaunchId_fkey"
  FOREIGN KEY ("canaryLaunchId") REFERENCES "launches"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE "releases" ADD CONSTRAINT "releases_canary_check"
  CHECK (("canaryLaunchId" IS NULL) = ("canaryPercent" IS NULL) AND "canaryPercent" BETWEEN 1 AND 99 AND "canaryLaunchId" <> "launchId");
CREATE INDEX "releases_canaryLaunchId_idx" ON "releases"("canaryLaunchId");
