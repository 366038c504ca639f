/**
 * What can be changed of content (contract §3). Each answers in this order: NOT_FOUND or GONE for what the caller can't see, FORBIDDEN,
 * VALIDATION_ERROR, and from the store PRECONDITION_FAILED and BUSINESS_RULE_VIOLATION.
 */
import { requireCaller } from '@trestle/chassis/request/context';
import { prefixOf } from '@trestle/chassis/values/ids';
import type { Caller } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import { allowCommentChange, readCommentText } from '../comment.ts';
import type { ContentStores } from '../content-store.ts';
import type { ContentContext } from '../context.ts';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowMessageChange, readMessageText } from '../message.ts';
import { allowPostBy, allowPostChange, postSight, readNewPost, readPostChange } from '../post.ts';
import { allowVideoChange, readVideoChange } from '../video.ts';

export const Mutation: MutationResolvers = {
  createPost(_, args, context, info) {
    const caller = begin(context);
    const authorId = args.input.authorId ?? caller.userId;
    allowPostBy(caller, authorId);
    const post = readNewPost(args.input);
    return context.create({ args, info }, ({ posts }) => posts.create(authorId, post));
  },

  async updatePost(_, { id, input, expectedVersions }, context) {
    const caller = begin(context);
    const post = await context.loaders.post.need(id);
    allowPostChange(caller, post);
    return context.stores.posts.update(post, readPostChange(input), expectedVersions);
  },

  async deletePost(_, { id, expectedVersions }, context) {
    const caller = begin(context);
    allowPostChange(caller, await context.loaders.post.needToDelete(id));
    await context.stores.posts.delete(id, expectedVersions);
    return true;
  },

  createComment(_, args, context, info) {
    const caller = begin(context);
    const { postId } = args.input;
    return context.create({ args, info }, async (stores) => {
      await needPost(stores, postId, caller);
      const comment = { postId, authorId: caller.userId, ...readCommentText(args.input) };
      const created = await stores.comments.create(comment, postSight(caller));
      if (!created) throw fail('GONE', 'The post was deleted');
      return created;
    });
  },

  async updateComment(_, { id, input, expectedVersions }, context) {
    const caller = begin(context);
    allowCommentChange(caller, await context.loaders.comment.need(id));
    return context.stores.comments.update(id, readCommentText(input), { expectedVersions });
  },

  async deleteComment(_, { id, expectedVersions }, context) {
    const caller = begin(context);
    allowCommentChange(caller, await context.loaders.comment.needToDelete(id));
    await context.stores.comments.delete(id, expectedVersions);
    return true;
  },

  async updateVideo(_, { id, input, expectedVersions }, context) {
    const caller = begin(context);
    allowVideoChange(caller, await context.loaders.video.need(id));
    return context.stores.videos.update(id, readVideoChange(input), { expectedVersions });
  },

  async deleteVideo(_, { id, expectedVersions }, context) {
    const caller = begin(context);
    allowVideoChange(caller, await context.loaders.video.needToDelete(id));
    await context.stores.videos.delete(id, expectedVersions);
    return true;
  },

  createMessage(_, args, context, info) {
    const caller = begin(context);
    const { channelId } = args.input;
    return context.create({ args, info }, async ({ channels, messages }) => {
      const [channel] = prefixOf(channelId) === 'chn' ? await channels.findByIds([channelId]) : [];
      if (!channel) throw fail('NOT_FOUND', 'There is no such channel');
      return messages.create({ channelId, authorId: caller.userId, ...readMessageText(args.input) });
    });
  },

  async updateMessage(_, { id, input, expectedVersions }, context) {
    const caller = begin(context);
    allowMessageChange(caller, await context.loaders.message.need(id));
    return context.stores.messages.update(id, readMessageText(input), { expectedVersions });
  },

  async deleteMessage(_, { id, expectedVersions }, context) {
    const caller = begin(context);
    allowMessageChange(caller, await context.loaders.message.needToDelete(id));
    await context.stores.messages.delete(id, expectedVersions);
    return true;
  },
};

/** What an earlier mutation of the same request changed must show, so nothing that was read before counts any more. */
function begin(context: ContentContext): Caller {
  context.forget();
  return requireCaller(context);
}

/** Looked for within the write, so that a retry is answered also when the post is there no more (spec §8). Throws NOT_FOUND or GONE. */
async function needPost({ posts, findDeleted }: ContentStores, id: string, caller: Caller): Promise<void> {
  const isPost = prefixOf(id) === 'pst';
  if (isPost && (await posts.findByIds([id], postSight(caller))).length > 0) return;
  throw isPost && (await findDeleted([id])).length > 0 ? fail('GONE', 'The post was deleted') : fail('NOT_FOUND', 'There is no such post');
}
