/** The GraphQL fields of posts (contract §3). */
import { isGiven } from '@trestle/chassis/graphql/is-given';
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';

import { createPost, deletePost, updatePost } from './mutations.ts';
import { listPosts } from './queries.ts';

export const postResolvers: Resolvers = {
  Query: {
    post: (_, { id }, { loaders }) => loaders.post.findOrGone(id),
    postsConnection: (_, { filter, ...args }, context) => listPosts(args, filter ?? {}, context),
  },
  Mutation: {
    createPost: (_, args, context, info) => createPost(args, context, info),
    updatePost: (_, args, context) => updatePost(args, context),
    deletePost: (_, args, context) => deletePost(args, context),
  },
  Post: {
    __resolveReference: ({ id }, { loaders }) => loaders.post.find(id),
    author: ({ authorId }) => ({ id: authorId }),
    comments: ({ id }, args, { loaders }, info) => loaders.commentsOn({ ...args, hasLimit: isGiven(info, 'limit') }).load(id),
    commentsConnection: ({ id }, args, { loaders }) => loaders.commentsConnectionOn(args).load(id),
  },
  PostConnection: connectionResolvers,
};
