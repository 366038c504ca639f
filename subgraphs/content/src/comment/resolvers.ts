/** The GraphQL fields of comments (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { postVisibility } from '../post/rules.ts';
import { createComment, deleteComment, updateComment } from './mutations.ts';

export const commentResolvers: Resolvers = {
  Query: {
    comment: (_, { id }, { loaders }) => loaders.comment.findOrGone(id),
    commentsConnection: (_, { filter, ...args }, { stores: { comments }, caller }) =>
      comments.connection(args, { filter: filter ?? {}, visibility: postVisibility(caller) }),
  },
  Mutation: {
    createComment: (_, args, context, info) => createComment(args, context, info),
    updateComment: (_, args, context) => updateComment(args, context),
    deleteComment: (_, args, context) => deleteComment(args, context),
  },
  Comment: {
    __resolveReference: ({ id }, { loaders }) => loaders.comment.find(id),
    author: ({ authorId }) => ({ id: authorId }),
    post: ({ postId }, _, { loaders }) => loaders.post.need(postId),
  },
  CommentConnection: connectionResolvers,
};
