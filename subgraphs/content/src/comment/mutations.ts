/** The mutations of comments: rules first, then one write. Errors come in the same order as for posts. */
import { couldSee } from '@trestle/chassis/loading/tombstones';
import { requireCaller } from '@trestle/chassis/request/context';
import { gone, notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { hasPrefix } from '@trestle/chassis/values/ids';
import type { Visibility } from '../access.ts';
import type { ContentContext } from '../context.ts';
import type { MutationCreateCommentArgs, MutationDeleteCommentArgs, MutationUpdateCommentArgs } from '../generated/resolvers.ts';
import { postVisibility } from '../post/rules.ts';
import type { ContentStores } from '../stores.ts';
import { type Comment, allowCommentChange, parseCommentBody } from './rules.ts';

export async function createComment(
  args: MutationCreateCommentArgs,
  context: ContentContext,
  info: MutationCall['info'],
): Promise<Comment> {
  const caller = requireCaller(context);
  const { postId } = args.input;
  const visibility = postVisibility(caller);
  return context.write({ args, info }, async (stores) => {
    await needPost(stores, postId, visibility);
    const comment = { postId, authorId: caller.userId, ...parseCommentBody(args.input) };
    const created = await stores.comments.create(comment, visibility);
    if (!created) throw gone('post', postId);
    return created;
  });
}

export async function updateComment({ id, input, expectedVersions }: MutationUpdateCommentArgs, context: ContentContext): Promise<Comment> {
  const caller = requireCaller(context);
  allowCommentChange(caller, await context.loaders.comment.need(id));
  return context.stores.comments.update(id, parseCommentBody(input), { expectedVersions });
}

export async function deleteComment({ id, expectedVersions }: MutationDeleteCommentArgs, context: ContentContext): Promise<true> {
  const caller = requireCaller(context);
  allowCommentChange(caller, await context.loaders.comment.needToDelete(id));
  return context.stores.comments.delete(id, expectedVersions);
}

/** Throws NOT_FOUND or GONE. It is part of the write, so that a replay succeeds even when the post was deleted since (spec §8). */
async function needPost({ posts, findDeleted }: ContentStores, id: string, visibility: Visibility): Promise<void> {
  const isPostId = hasPrefix('pst')(id);
  if (isPostId && (await posts.findByIds([id], { filter: {}, visibility })).length > 0) return;
  const [tombstone] = isPostId ? await findDeleted([id]) : [];
  throw tombstone && couldSee(visibility, tombstone) ? gone('post', id) : notFound('post', id);
}
