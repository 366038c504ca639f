-- The poster image of a published video, in the file store under "posterKey".
ALTER TABLE "videos"
    ADD COLUMN "posterKey" TEXT,
    ADD COLUMN "posterType" TEXT,
    ADD CONSTRAINT "videos_poster" CHECK (num_nulls("posterKey", "posterType") IN (0, 2));
CREATE UNIQUE INDEX "videos_posterKey_key" ON "videos"("posterKey");
