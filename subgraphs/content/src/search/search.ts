/** Searches accounts, posts and comments: the index finds their ids, their own tables and subgraphs what is shown. */
import { isGiven } from '@trestle/chassis/graphql/is-given';
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import type { Connection } from '@trestle/chassis/paging/connection';
import type { GraphQLResolveInfo } from 'graphql';
import type { Comment } from '../comment/rules.ts';
import type { ContentContext } from '../context.ts';
import type { QuerySearchArgs } from '../generated/resolvers.ts';
import type { Post } from '../post/rules.ts';
import type { Account } from '../user/account.ts';
import { type Found, type Highlight, parseSearch } from './rules.ts';

/** A result with what matches in it. */
export interface SearchEdge {
  readonly cursor: string;
  readonly node: Account | Post | Comment;
  readonly highlights: () => Promise<readonly Highlight[]>;
}

/** The value behind `SearchResultConnection`. Named by resolver-types.json. @public */
export interface SearchPage extends Omit<Connection<never>, 'edges'> {
  /** Null for what was deleted while the page was read. */
  readonly edges: readonly (SearchEdge | null)[];
}

/** Returns a page of results. The number of statements does not depend on how many there are. Throws VALIDATION_ERROR. */
export async function search(
  { query: written, types, first, ...args }: Partial<QuerySearchArgs> & Pick<QuerySearchArgs, 'query'>,
  { stores, loaders }: ContentContext,
  info: GraphQLResolveInfo,
): Promise<SearchPage> {
  const scope = parseSearch(written, types);
  const query = await stores.corrections.correct(scope.query);
  // The default of `first` does not stand in the way of `last`.
  const size = args.last != null && !isGiven(info, 'first') ? {} : { first: first ?? null };
  const { edges, ...page } = await stores.search.connection({ ...args, ...size }, { ...scope, query });
  const highlights = createRowLoader(
    (ids) => stores.search.highlight(ids, query),
    ({ id }) => id,
  );
  const load = ({ type, id }: Found): Promise<SearchEdge['node'] | null> => {
    if (type === 'USER') return Promise.resolve({ id });
    return type === 'POST' ? loaders.post.find(id) : loaders.comment.find(id);
  };
  const toEdge = async ({ cursor, node: found }: (typeof edges)[number]): Promise<SearchEdge | null> => {
    const node = await load(found);
    return node && { cursor, node, highlights: async () => (await highlights.load(found.id))?.highlights ?? [] };
  };
  return { ...page, edges: await Promise.all(edges.map(toEdge)) };
}
