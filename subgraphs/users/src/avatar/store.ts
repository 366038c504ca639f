/** The pictures of accounts: what the rows of accounts say of them. */
import { createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import type { DeletingStoreOptions } from '@trestle/chassis/stores/row-store';
import type { NamedFile } from '@trestle/chassis/server/file-endpoint';
import type { Prisma } from '../generated/prisma/client.ts';
import type { User } from '../user/rules.ts';
import type { UserClient } from '../user/store.ts';
import { NO_AVATAR, type NewAvatar } from './rules.ts';

export type AvatarStore = ReturnType<typeof createAvatarStore>;

export function createAvatarStore({ prisma, clock, findDeleted }: Omit<DeletingStoreOptions<UserClient>, 'createId'>) {
  const write = createGuardedUpdate<User, NewAvatar | typeof NO_AVATAR>({
    noun: 'account',
    find: (where: Prisma.UserWhereInput) => prisma.user.findMany({ where }),
    findDeleted,
    clock,
    update: (args) => prisma.user.updateManyAndReturn(args),
  });
  return {
    /** Replaces the picture of an account; null removes it. Throws GONE or NOT_FOUND. */
    set: (userId: string, avatar: NewAvatar | null): Promise<User> => write(userId, avatar ?? NO_AVATAR, { expectedVersions: null }),

    /** Returns the picture of an account; undefined without one. */
    async findFile(userId: string): Promise<NamedFile | undefined> {
      const select = { avatarKey: true, avatarSize: true, avatarSha256: true };
      const account = await prisma.user.findUnique({ where: { id: userId }, select });
      const { avatarKey: key = null, avatarSize: size = null, avatarSha256: sha256 = null } = account ?? {};
      return key === null || size === null || sha256 === null ? undefined : { key, size, sha256 };
    },

    /** Returns those of the keys of files that accounts name. */
    async findFileKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await prisma.user.findMany({ where: { avatarKey: { in: [...keys] } }, select: { avatarKey: true } });
      return new Set(found.flatMap(({ avatarKey }) => avatarKey ?? []));
    },
  };
}
