-- Resumable uploads of videos (ADR 27). The row holds how far an upload is; its bytes are files of the store, one for each part, until the
-- last byte has arrived. Then one transaction creates the video and deletes the parts. The row stays until "expiresAt", so that a client that
-- lost the last response learns that the upload is complete.
CREATE TABLE "video_uploads" (
    "id" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "sha256" TEXT,
    "offset" INTEGER NOT NULL DEFAULT 0,
    "directKey" TEXT,
    "videoId" TEXT,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(0) NOT NULL,

    CONSTRAINT "video_uploads_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "video_uploads_offset" CHECK ("offset" BETWEEN 0 AND "size"),
    CONSTRAINT "video_uploads_complete" CHECK (("offset" = "size") = ("videoId" IS NOT NULL))
);
CREATE UNIQUE INDEX "video_uploads_directKey_key" ON "video_uploads"("directKey");
CREATE INDEX "video_uploads_ownerId_idx" ON "video_uploads"("ownerId");
CREATE INDEX "video_uploads_expiresAt_idx" ON "video_uploads"("expiresAt");

CREATE TABLE "video_upload_parts" (
    "uploadId" TEXT NOT NULL,
    "start" INTEGER NOT NULL,
    "fileKey" TEXT NOT NULL,

    CONSTRAINT "video_upload_parts_pkey" PRIMARY KEY ("uploadId", "start"),
    CONSTRAINT "video_upload_parts_uploadId_fkey" FOREIGN KEY ("uploadId") REFERENCES "video_uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "video_upload_parts_fileKey_key" ON "video_upload_parts"("fileKey");
