/** The mutations of videos' records: rules first, then one write. Errors come in the same order as for posts. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { ContentContext } from '../context.ts';
import type { MutationDeleteVideoArgs, MutationUpdateVideoArgs } from '../generated/resolvers.ts';
import { type Video, allowVideoChange, parseVideoChange } from './rules.ts';

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
