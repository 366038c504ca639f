/**
 * What can be changed of content (contract §3). Each answers in this order: NOT_FOUND or GONE for what the caller can't see, FORBIDDEN,
 * VALIDATION_ERROR, and from the store PRECONDITION_FAILED and BUSINESS_RULE_VIOLATION.
 */
import { requireCaller } from '@trestle/chassis/context';
import type { Caller } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import { allowCommentChange, readCommentText } from '../comment.ts';
import type { ContentContext } from '../context.ts';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowMessageChange, readMessageText } from '../message.ts';
import { allowPostChange, postSight, readNewPost, readPostChange } from '../post.ts';
import { allowVideoChange, readVideoChange } from '../video.ts';

export const Mutation: MutationResolvers = {
  createPost(_, { input }, context) {
    const caller = begin(context);
    return context.stores.posts.create(caller.userId, readNewPost(input));
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

  async createComment(_, { input }, context) {
    const caller = begin(context);
    const { id: postId } = await context.loaders.post.need(input.postId);
    const comment = { postId, authorId: caller.userId, ...readCommentText(input) };
    const created = await context.stores.comments.create(comment, postSight(caller));
    if (!created) throw fail('GONE', 'The post was deleted');
    return created;
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

  async createMessage(_, { input }, context) {
    const caller = begin(context);
    const { id: channelId } = await context.loaders.channel.need(input.channelId);
    return context.stores.messages.create({ channelId, authorId: caller.userId, ...readMessageText(input) });
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
