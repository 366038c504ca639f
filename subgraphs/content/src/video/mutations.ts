/** The mutations of videos: rules first, then one write. Errors come in the same order as for posts. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { recognizeMediaType } from '@trestle/chassis/uploads/media-type';
import type { ContentContext } from '../context.ts';
import type { MutationDeleteVideoArgs, MutationUpdateVideoArgs, MutationUploadVideoArgs } from '../generated/resolvers.ts';
import { VIDEO_TYPES, type Video, allowVideoChange, parseVideoChange } from './rules.ts';

/** The file was received and stored already; it is deleted unless it is kept. */
export async function uploadVideo(args: MutationUploadVideoArgs, context: ContentContext, info: MutationCall['info']): Promise<Video> {
  const { userId: ownerId } = requireCaller(context);
  const { title } = parseVideoChange(args);
  const { size, sha256 } = args.file;
  const mediaType = await recognizeMediaType(args.file, VIDEO_TYPES);
  return context.write({ args, info }, ({ videos }) =>
    videos.create({ ownerId, title, fileKey: args.file.keep(), mediaType, size, sha256 }),
  );
}

export async function updateVideo({ id, input, expectedVersions }: MutationUpdateVideoArgs, context: ContentContext): Promise<Video> {
  const caller = requireCaller(context);
  allowVideoChange(caller, await context.loaders.video.need(id));
  return context.stores.videos.update(id, parseVideoChange(input), { expectedVersions });
}

export async function deleteVideo({ id, expectedVersions }: MutationDeleteVideoArgs, context: ContentContext): Promise<true> {
  const caller = requireCaller(context);
  allowVideoChange(caller, await context.loaders.video.needToDelete(id));
  return context.stores.videos.delete(id, expectedVersions);
}
