/** The rules of accounts' pictures. Pure: no database, no clock. */
import type { User } from '../user/rules.ts';

/** The keys of pictures in the file store begin with it. */
export const AVATAR_FILES = 'avatars/';

/** The most bytes of a picture: 5 MiB. */
export const MAX_AVATAR_BYTES = 5 * 1024 * 1024;

/** The types that every browser shows, and that cannot contain a script. */
export const AVATAR_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

/** The columns of a picture. */
export interface NewAvatar {
  readonly avatarKey: string;
  readonly avatarType: string;
  readonly avatarSize: number;
  readonly avatarSha256: string;
}

/** The columns without a picture. */
export const NO_AVATAR = { avatarKey: null, avatarType: null, avatarSize: null, avatarSha256: null } as const;

/** Returns what clients see of the picture; null without one. */
export function toAvatar({ id, avatarType, avatarSize, avatarSha256 }: User) {
  if (avatarType === null || avatarSize === null || avatarSha256 === null) return null;
  return { mediaType: avatarType, size: avatarSize, sha256: avatarSha256, href: `/v1/users/${id}/avatar` };
}
