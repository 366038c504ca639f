-- The avatars of accounts. They are kept in the file store under "avatarKey".
ALTER TABLE "users"
    ADD COLUMN "avatarKey" TEXT,
    ADD COLUMN "avatarType" TEXT,
    ADD COLUMN "avatarSize" INTEGER,
    ADD COLUMN "avatarSha256" TEXT,
    ADD CONSTRAINT "users_avatar" CHECK (num_nulls("avatarKey", "avatarType", "avatarSize", "avatarSha256") IN (0, 4));

-- The sweep of files looks keys up here; no two accounts have one file.
CREATE UNIQUE INDEX "users_avatarKey_key" ON "users"("avatarKey");
