/** Represents the results of a search as one list of several types (spec §4.2, §4.4). No I/O. */
import { toTargetWith } from '../http/request-target.ts';
import type { RouteResponse } from '../http/response.ts';
import { SEARCH_TYPES, type SearchPosition, type SearchType, toSearchCursor } from '../query/search.ts';
import type { Represent, RepresentationContext } from './representation.ts';

interface Connection {
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly edges: readonly { readonly cursor: string; readonly node: Readonly<Record<string, unknown>> }[];
}

/** The connections of the requested types. */
type Connections = Readonly<Partial<Record<SearchType, Connection>>>;

const COLLECTIONS = { user: 'users', post: 'posts', comment: 'comments' } as const satisfies Record<SearchType, string>;

/** Returns the response of a search. `result` has one connection for each requested type, each with up to `limit` results. */
export function toSearchResponse(result: unknown, _represent: Represent, context: RepresentationContext): RouteResponse {
  const connections = result as Connections;
  const { paging } = context;
  const limit = paging?.variant === 'cursor' ? paging.limit : 0;
  const found = SEARCH_TYPES.flatMap((type) => (connections[type]?.edges ?? []).map(({ cursor, node }) => ({ type, cursor, node })));
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const next = found.length > limit || hasNextPage(connections, last) ? last : undefined;
  const nextCursor = next ? toSearchCursor(next) : null;
  const hasPrevPage = paging?.variant === 'cursor' && paging.cursor !== '';
  return {
    status: 200,
    body: {
      data: shown.map(({ type, node }) => toResult(type, node, context.prefix)),
      pagination: { limit, hasNextPage: nextCursor !== null, hasPrevPage, nextCursor, prevCursor: null },
    },
    ...(nextCursor !== null && { headers: { link: `<${toTargetWith(context, { cursor: nextCursor }, ['after'])}>; rel="next"` } }),
  };
}

/** Returns whether results follow the last one of its type. Later types then have no results on the page. */
function hasNextPage(connections: Connections, last: SearchPosition | undefined): boolean {
  return last !== undefined && connections[last.type]?.pageInfo.hasNextPage === true;
}

function toResult(type: SearchType, { status, post, ...node }: Readonly<Record<string, unknown>>, prefix: string): object {
  return {
    type,
    ...node,
    ...(typeof status === 'string' && { status: status.toLowerCase() }),
    ...(typeof post === 'object' && post !== null && { postId: (post as { id: string }).id }),
    _links: { self: { href: `${prefix}/${COLLECTIONS[type]}/${String(node['id'])}` } },
  };
}
