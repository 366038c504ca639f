/** All resolvers of the content subgraph. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { MAX_PAGE_SIZE } from '@trestle/chassis/paging/window';
import { type GraphQLResolveInfo, Kind } from 'graphql';
import type { Account } from '../account.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import { Mutation } from './mutation.ts';
import { Query } from './query.ts';
import { Subscription } from './subscription.ts';

/** The account itself is the users subgraph's; there it is null once it was deleted. */
const author = ({ authorId }: { readonly authorId: string }): Account => ({ id: authorId });

/** Whether the client gave an argument itself, rather than the schema its default. */
function isGiven({ fieldNodes: [node], variableValues }: GraphQLResolveInfo, name: string): boolean {
  const value = node?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value !== undefined && (value.kind !== Kind.VARIABLE || Object.hasOwn(variableValues, value.name.value));
}

export const resolvers: Resolvers = {
  Query,
  Mutation,
  Subscription,
  User: {
    __resolveReference: ({ id }) => ({ id }),
    posts: async ({ id }, _, { loaders }) => (await loaders.postsBy({ first: MAX_PAGE_SIZE }).load(id)).edges.map(({ node }) => node),
    post: async (account, { id }, { loaders }) => {
      const post = await loaders.post.findOrGone(id);
      return post?.authorId === account.id ? post : null;
    },
    postsConnection: ({ id }, args, { loaders }) => loaders.postsBy(args).load(id),
  },
  Post: {
    __resolveReference: ({ id }, { loaders }) => loaders.post.find(id),
    author,
    comments: ({ id }, args, { loaders }, info) => loaders.commentsOn({ ...args, hasLimit: isGiven(info, 'limit') }).load(id),
    commentsConnection: ({ id }, args, { loaders }) => loaders.commentWindowsOn(args).load(id),
  },
  Comment: {
    __resolveReference: ({ id }, { loaders }) => loaders.comment.find(id),
    author,
    post: ({ postId }, _, { loaders }) => loaders.post.need(postId),
  },
  Video: {
    __resolveReference: ({ id }, { loaders }) => loaders.video.find(id),
    owner: ({ ownerId }) => ({ id: ownerId }),
  },
  Channel: {
    __resolveReference: ({ id }, { loaders }) => loaders.channel.find(id),
    messagesConnection: ({ id }, args, { loaders }) => loaders.messagesIn(args).load(id),
  },
  Message: {
    __resolveReference: ({ id }, { loaders }) => loaders.message.find(id),
    author,
    channel: ({ channelId }, _, { loaders }) => loaders.channel.need(channelId),
  },
  PostConnection: connectionResolvers,
  CommentConnection: connectionResolvers,
  VideoConnection: connectionResolvers,
  ChannelConnection: connectionResolvers,
  MessageConnection: connectionResolvers,
};
