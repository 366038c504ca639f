/** The GraphQL fields of videos' records (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { deleteVideo, updateVideo } from './mutations.ts';
import { videoVisibility } from './rules.ts';

export const videoResolvers: Resolvers = {
  Query: {
    video: (_, { id }, { loaders }) => loaders.video.findOrGone(id),
    videosConnection: (_, { filter, ...args }, { stores: { videos }, caller }) =>
      videos.connection(args, { filter: filter ?? {}, visibility: videoVisibility(caller) }),
  },
  Mutation: {
    updateVideo: (_, args, context) => updateVideo(args, context),
    deleteVideo: (_, args, context) => deleteVideo(args, context),
  },
  Video: {
    __resolveReference: ({ id }, { loaders }) => loaders.video.find(id),
    owner: ({ ownerId }) => ({ id: ownerId }),
  },
  VideoConnection: connectionResolvers,
};
