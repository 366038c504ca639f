/**
 * The mutations of posts: rules first, then one write. Errors come in this order: UNAUTHORIZED, NOT_FOUND or GONE for a post that the
 * caller cannot see, FORBIDDEN, VALIDATION_ERROR, and from the store PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION.
 */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { ContentContext } from '../context.ts';
import type { MutationCreatePostArgs, MutationDeletePostArgs, MutationUpdatePostArgs } from '../generated/resolvers.ts';
import { type Post, allowPostBy, allowPostChange, parseNewPost, parsePostChange } from './rules.ts';

export async function createPost(args: MutationCreatePostArgs, context: ContentContext, info: MutationCall['info']): Promise<Post> {
  const caller = requireCaller(context);
  const authorId = args.input.authorId ?? caller.userId;
  allowPostBy(caller, authorId);
  const post = parseNewPost(args.input);
  return context.write({ args, info }, ({ posts }) => posts.create(authorId, post));
}

export async function updatePost({ id, input, expectedVersions }: MutationUpdatePostArgs, context: ContentContext): Promise<Post> {
  const caller = requireCaller(context);
  const post = await context.loaders.post.need(id);
  allowPostChange(caller, post);
  return context.stores.posts.update(post, parsePostChange(input), expectedVersions);
}

export async function deletePost({ id, expectedVersions }: MutationDeletePostArgs, context: ContentContext): Promise<true> {
  const caller = requireCaller(context);
  allowPostChange(caller, await context.loaders.post.needToDelete(id));
  return context.stores.posts.delete(id, expectedVersions);
}
