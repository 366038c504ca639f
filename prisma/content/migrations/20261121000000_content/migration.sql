CREATE TYPE "PostStatus" AS ENUM ('DRAFT', 'PUBLISHED', 'ARCHIVED');
CREATE TYPE "VideoStatus" AS ENUM ('UPLOADED', 'PUBLISHING', 'PUBLISHED', 'FAILED');

CREATE TABLE "posts" (
    "id" TEXT NOT NULL,
    "authorId" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "body" TEXT NOT NULL DEFAULT '',
    "status" "PostStatus" NOT NULL DEFAULT 'DRAFT',
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "posts_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "posts_title_length" CHECK (char_length("title") BETWEEN 1 AND 200),
    CONSTRAINT "posts_body_length" CHECK (char_length("body") <= 100000),
    CONSTRAINT "posts_tags_count" CHECK (cardinality("tags") <= 20),
    CONSTRAINT "posts_tags_lower_case" CHECK (array_to_string("tags", ' ') !~ '[A-Z]'),
    CONSTRAINT "posts_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "comments" (
    "id" TEXT NOT NULL,
    "postId" TEXT NOT NULL,
    "authorId" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "comments_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "comments_postId_fkey" FOREIGN KEY ("postId") REFERENCES "posts"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "comments_body_length" CHECK (char_length("body") BETWEEN 1 AND 10000),
    CONSTRAINT "comments_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "videos" (
    "id" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "status" "VideoStatus" NOT NULL DEFAULT 'UPLOADED',
    "durationSeconds" INTEGER,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "videos_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "videos_title_length" CHECK (char_length("title") BETWEEN 1 AND 200),
    CONSTRAINT "videos_duration_positive" CHECK ("durationSeconds" >= 0),
    CONSTRAINT "videos_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "channels" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "topic" TEXT,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "channels_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "channels_name_kebab_case" CHECK ("name" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length("name") <= 80),
    CONSTRAINT "channels_topic_length" CHECK (char_length("topic") <= 500),
    CONSTRAINT "channels_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "authorId" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "messages_channelId_fkey" FOREIGN KEY ("channelId") REFERENCES "channels"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "messages_body_length" CHECK (char_length("body") BETWEEN 1 AND 10000),
    CONSTRAINT "messages_version_positive" CHECK ("version" >= 1)
);

CREATE TABLE "tombstones" (
    "id" TEXT NOT NULL,
    "deletedAt" TIMESTAMPTZ(0) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("id")
);

-- Whatever is deleted leaves a tombstone in the same statement, a post's comments too. A trigger also sees the comment that came in
-- while its post was being deleted; a statement that lists the comments beforehand would not.
CREATE FUNCTION "leave_tombstones"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "tombstones" ("id") SELECT "id" FROM deleted ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER "posts_tombstones" AFTER DELETE ON "posts" REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION "leave_tombstones"();
CREATE TRIGGER "comments_tombstones" AFTER DELETE ON "comments" REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION "leave_tombstones"();
CREATE TRIGGER "videos_tombstones" AFTER DELETE ON "videos" REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION "leave_tombstones"();
CREATE TRIGGER "messages_tombstones" AFTER DELETE ON "messages" REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION "leave_tombstones"();

-- One index for each filter and sort of `postsConnection`; the id behind each breaks ties. By author also serves `User.posts`.
CREATE INDEX "posts_authorId_createdAt_id_idx" ON "posts"("authorId", "createdAt", "id");
CREATE INDEX "posts_title_id_idx" ON "posts"("title", "id");
CREATE INDEX "posts_status_id_idx" ON "posts"("status", "id");
CREATE INDEX "posts_createdAt_id_idx" ON "posts"("createdAt", "id");
CREATE INDEX "posts_updatedAt_id_idx" ON "posts"("updatedAt", "id");
CREATE INDEX "posts_tags_idx" ON "posts" USING GIN ("tags");
-- Full-text search in the title, in the text and in both; a query must repeat the expression to be served.
CREATE INDEX "posts_search_title_idx" ON "posts" USING GIN (to_tsvector('english', "title"));
CREATE INDEX "posts_search_body_idx" ON "posts" USING GIN (to_tsvector('english', "body"));
CREATE INDEX "posts_search_idx" ON "posts" USING GIN (to_tsvector('english', "title" || ' ' || "body"));

CREATE INDEX "comments_postId_id_idx" ON "comments"("postId", "id");

CREATE INDEX "videos_ownerId_createdAt_id_idx" ON "videos"("ownerId", "createdAt", "id");
CREATE INDEX "videos_title_id_idx" ON "videos"("title", "id");
CREATE INDEX "videos_status_id_idx" ON "videos"("status", "id");
CREATE INDEX "videos_createdAt_id_idx" ON "videos"("createdAt", "id");

CREATE UNIQUE INDEX "channels_name_key" ON "channels"("name");
CREATE INDEX "messages_channelId_id_idx" ON "messages"("channelId", "id");
