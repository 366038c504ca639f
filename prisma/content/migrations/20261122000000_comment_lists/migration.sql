-- Lists of comments beyond those of one post: by author, by time, and by their words.
CREATE INDEX "comments_authorId_id_idx" ON "comments"("authorId", "id");
CREATE INDEX "comments_createdAt_id_idx" ON "comments"("createdAt", "id");
CREATE INDEX "comments_updatedAt_id_idx" ON "comments"("updatedAt", "id");

-- A query must repeat the expression to be served.
CREATE INDEX "comments_search_idx" ON "comments" USING GIN (to_tsvector('english', "body"));
