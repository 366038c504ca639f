/** The GraphQL fields of resumable uploads of videos. */
import type { Resolvers } from '../generated/resolvers.ts';
import { createVideoUpload, deleteVideoUpload, findVideoUpload, signDirectUpload } from './mutations.ts';

export const videoUploadResolvers: Resolvers = {
  Query: {
    videoUpload: (_, { id }, context) => findVideoUpload(id, context),
  },
  Mutation: {
    createVideoUpload: (_, args, context, info) => createVideoUpload(args, context, info),
    deleteVideoUpload: (_, { id }, context) => deleteVideoUpload(id, context),
  },
  VideoUpload: {
    video: ({ videoId }, _, { loaders }) => (videoId === null ? null : loaders.video.find(videoId)),
    direct: (upload, _, context) => signDirectUpload(upload, context),
  },
};
