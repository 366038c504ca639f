/** Represents the results of a search as one list of several types (spec §4.2, §4.4). No I/O. */
import type { RouteResponse } from '../http/response.ts';
import type { SearchType } from '../query/search.ts';
import { toListResponse } from './list.ts';
import type { Represent, RepresentationContext } from './representation.ts';

type Node = Readonly<Record<string, unknown>> & { readonly __typename: 'User' | 'Post' | 'Comment'; readonly id: string };

interface SearchEdge {
  readonly node: Node;
  readonly highlights: readonly { readonly field: string; readonly html: string }[];
}

interface SearchConnection {
  readonly edges: readonly (SearchEdge | null)[];
}

const TYPES = { User: 'user', Post: 'post', Comment: 'comment' } as const satisfies Record<Node['__typename'], SearchType>;
const COLLECTIONS = { User: 'users', Post: 'posts', Comment: 'comments' } as const satisfies Record<Node['__typename'], string>;

/** Returns the response of a search, without what was deleted in the last seconds. `result` is the data of the operation. */
export function toSearchResponse(result: unknown, _represent: Represent, context: RepresentationContext): RouteResponse {
  const { search: connection } = result as { readonly search: SearchConnection };
  const edges = connection.edges.flatMap((edge) => (edge ? [{ node: edge }] : []));
  const represent: Represent = (edge) => ({ body: toResult(edge as SearchEdge, context.prefix), version: undefined, changedAt: undefined });
  return toListResponse({ ...connection, edges }, represent, context);
}

function toResult({ node: { __typename, status, post, ...fields }, highlights }: SearchEdge, prefix: string): Record<string, unknown> {
  return {
    type: TYPES[__typename],
    ...fields,
    ...(typeof status === 'string' && { status: status.toLowerCase() }),
    ...(typeof post === 'object' && post !== null && { postId: (post as { id: string }).id }),
    highlights: Object.fromEntries(highlights.map(({ field, html }) => [field.toLowerCase(), html])),
    _links: { self: { href: `${prefix}/${COLLECTIONS[__typename]}/${fields.id}` } },
  };
}
