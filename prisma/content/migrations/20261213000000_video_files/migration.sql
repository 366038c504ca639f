-- The content of videos. It is kept in the file store under "fileKey"; a video without one was recorded before there were files.
ALTER TABLE "videos"
    ADD COLUMN "fileKey" TEXT,
    ADD COLUMN "mediaType" TEXT,
    ADD COLUMN "size" INTEGER,
    ADD COLUMN "sha256" TEXT,
    ADD CONSTRAINT "videos_file" CHECK (num_nulls("fileKey", "mediaType", "size", "sha256") IN (0, 4));

-- The sweep of files looks keys up here; no two videos have one file.
CREATE UNIQUE INDEX "videos_fileKey_key" ON "videos"("fileKey");
