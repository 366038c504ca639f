/** The queries of posts. */
import type { Connection } from '@trestle/chassis/paging/connection';
import type { WindowArguments } from '@trestle/chassis/paging/window';
import type { ContentContext } from '../context.ts';
import type { PostFilter, PostOrderField } from '../generated/resolvers.ts';
import { type Post, parsePostFilter, postVisibility } from './rules.ts';

/** Returns a page of the posts that the caller may see; misspelt words of a search are corrected. Throws VALIDATION_ERROR. */
export async function listPosts(
  args: WindowArguments<PostOrderField>,
  filter: PostFilter,
  { stores: { posts, corrections }, caller }: ContentContext,
): Promise<Connection<Post>> {
  const { query, ...parsed } = parsePostFilter(filter);
  return posts.connection(args, { ...parsed, query: query && (await corrections.correct(query)), visibility: postVisibility(caller) });
}
