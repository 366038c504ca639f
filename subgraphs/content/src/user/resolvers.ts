/** The GraphQL fields that this subgraph adds to accounts (spec §2.5): their posts, as far as the caller may see them. */
import { nodesOf } from '@trestle/chassis/paging/connection';
import { MAX_PAGE_SIZE } from '@trestle/chassis/paging/window';
import { gone } from '@trestle/chassis/request/faults';
import type { ContentContext } from '../context.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import type { Post } from '../post/rules.ts';
import type { Account } from './account.ts';

export const userResolvers: Resolvers = {
  User: {
    // Only users knows which accounts were deleted, so the reference itself is the answer. The gateway asks users for `id`, which is
    // @external here. It cannot be null (composition: EXTERNAL_TYPE_MISMATCH), and contract §3 declares it; see ADR 3.
    __resolveReference: ({ id }) => ({ id }),
    posts: async ({ id }, _, { loaders }) => nodesOf(await loaders.postsBy({ first: MAX_PAGE_SIZE }).load(id)),
    post: (account, { id }, context) => findPostOf(account, id, context),
    postsConnection: ({ id }, args, { loaders }) => loaders.postsBy(args).load(id),
  },
};

/** Throws GONE for a post of the account that was deleted. */
async function findPostOf(account: Account, id: string, { loaders }: ContentContext): Promise<Post | null> {
  const post = await loaders.post.find(id);
  if (!post && (await loaders.wasPostDeletedOf(account.id, id))) throw gone('post', id);
  return post?.authorId === account.id ? post : null;
}
