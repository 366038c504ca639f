/** The mutations of accounts' pictures: rules first, then one write. The file of a replaced picture is swept later. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { recognizeMediaType } from '@trestle/chassis/uploads/media-type';
import type { UsersContext } from '../context.ts';
import type { MutationSetAvatarArgs } from '../generated/resolvers.ts';
import type { User } from '../user/rules.ts';
import { AVATAR_TYPES } from './rules.ts';

/** Throws UNAUTHORIZED or UNSUPPORTED_MEDIA_TYPE. */
export async function setAvatar(args: MutationSetAvatarArgs, context: UsersContext, info: MutationCall['info']): Promise<User> {
  const { userId } = requireCaller(context);
  const { file } = args;
  const avatarType = await recognizeMediaType(file, AVATAR_TYPES);
  const { size: avatarSize, sha256: avatarSha256 } = file;
  return context.write({ args, info }, ({ avatars }) =>
    avatars.set(userId, { avatarKey: file.keep(), avatarType, avatarSize, avatarSha256 }),
  );
}

/** Throws UNAUTHORIZED. */
export async function removeAvatar(context: UsersContext): Promise<User> {
  return context.stores.avatars.set(requireCaller(context).userId, null);
}
