/** The GraphQL fields of videos' records (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { readPoster, toPoster } from '../publishing/poster.ts';
import { publishVideo } from '../publishing/publish-video.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import { deleteVideo, updateVideo, uploadVideo } from './mutations.ts';
import { toContent, videoVisibility } from './rules.ts';

export const videoResolvers: Resolvers = {
  Query: {
    video: (_, { id }, { loaders }) => loaders.video.findOrGone(id),
    videosConnection: (_, { filter, ...args }, { stores: { videos }, caller }) =>
      videos.connection(args, { filter: filter ?? {}, visibility: videoVisibility(caller) }),
  },
  Mutation: {
    uploadVideo: (_, args, context, info) => uploadVideo(args, context, info),
    publishVideo: (_, args, context, info) => publishVideo(args, context, info),
    updateVideo: (_, args, context) => updateVideo(args, context),
    deleteVideo: (_, args, context) => deleteVideo(args, context),
  },
  Video: {
    __resolveReference: ({ id }, { loaders }) => loaders.video.find(id),
    owner: ({ ownerId }) => ({ id: ownerId }),
    content: toContent,
    poster: toPoster,
  },
  VideoPoster: { url: (poster, _, { files }) => readPoster(files, poster) },
  VideoConnection: connectionResolvers,
};
