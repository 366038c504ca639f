/** All resolvers of the content subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { channelResolvers } from './channel/resolvers.ts';
import { commentResolvers } from './comment/resolvers.ts';
import { messageResolvers } from './message/resolvers.ts';
import { postResolvers } from './post/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';
import { videoResolvers } from './video/resolvers.ts';

export const resolvers = mergeResolvers(postResolvers, commentResolvers, videoResolvers, channelResolvers, messageResolvers, userResolvers);
