/** What can be read of content (contract §3). */
import { toConnection } from '@trestle/chassis/paging/connection';
import { readWindow } from '@trestle/chassis/paging/window';
import { COMMENT_SORTING } from '../comment-store.ts';
import type { QueryResolvers } from '../generated/resolvers.ts';
import { CHANNEL_SORTING } from '../message-store.ts';
import { POST_SORTING } from '../post-store.ts';
import { postSight, readPostFilter } from '../post.ts';
import { VIDEO_SORTING } from '../video-store.ts';
import { videoSight } from '../video.ts';

export const Query: QueryResolvers = {
  post: (_, { id }, { loaders }) => loaders.post.findOrGone(id),
  comment: (_, { id }, { loaders }) => loaders.comment.findOrGone(id),
  video: (_, { id }, { loaders }) => loaders.video.findOrGone(id),
  channel: (_, { id }, { loaders }) => loaders.channel.findOrGone(id),
  message: (_, { id }, { loaders }) => loaders.message.findOrGone(id),

  async postsConnection(_, args, { caller, stores: { posts } }) {
    const window = readWindow(args, POST_SORTING);
    const scope = { filter: readPostFilter(args.filter ?? {}), sight: postSight(caller) };
    return toConnection(await posts.list(scope, window), window, () => posts.count(scope));
  },

  async commentsConnection(_, args, { caller, stores: { comments } }) {
    const window = readWindow(args, COMMENT_SORTING);
    const scope = { filter: args.filter ?? {}, sight: postSight(caller) };
    return toConnection(await comments.list(scope, window), window, () => comments.count(scope));
  },

  async videosConnection(_, args, { caller, stores: { videos } }) {
    const window = readWindow(args, VIDEO_SORTING);
    const scope = { filter: args.filter ?? {}, sight: videoSight(caller) };
    return toConnection(await videos.list(scope, window), window, () => videos.count(scope));
  },

  async channelsConnection(_, args, { stores: { channels } }) {
    const window = readWindow(args, CHANNEL_SORTING);
    return toConnection(await channels.list(window), window, channels.count);
  },
};
