/** All resolvers of the content subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { JSONScalar } from '@trestle/chassis/graphql/scalars';
import { channelResolvers } from './channel/resolvers.ts';
import { commentResolvers } from './comment/resolvers.ts';
import { jobResolvers } from './job/resolvers.ts';
import { messageResolvers } from './message/resolvers.ts';
import { postResolvers } from './post/resolvers.ts';
import { searchResolvers } from './search/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';
import { videoUploadResolvers } from './video-upload/resolvers.ts';
import { videoResolvers } from './video/resolvers.ts';

export const resolvers = mergeResolvers(
  ...[postResolvers, commentResolvers, videoResolvers, videoUploadResolvers, channelResolvers, messageResolvers],
  ...[userResolvers, jobResolvers, searchResolvers],
  { JSON: JSONScalar },
);
