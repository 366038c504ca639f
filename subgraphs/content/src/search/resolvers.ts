/** The GraphQL fields of the search (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { toHighlightHtml } from '@trestle/chassis/search/highlight';
import type { Resolvers } from '../generated/resolvers.ts';
import { typeOfId } from './rules.ts';
import { search } from './search.ts';

export const searchResolvers: Resolvers = {
  Query: { search: (_, args, context, info) => search(args, context, info) },
  SearchResult: { __resolveType: ({ id }) => typeOfId(id) },
  SearchResultConnection: connectionResolvers,
  SearchResultEdge: { highlights: (edge) => edge.highlights() },
  SearchHighlight: { html: ({ parts }) => toHighlightHtml(parts) },
};
