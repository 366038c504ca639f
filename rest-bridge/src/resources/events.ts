/** Represents a page of events (CloudEvents 1.0, JSON event format). No I/O. */
import { toTargetWith } from '../http/request-target.ts';
import type { RouteResponse } from '../http/response.ts';
import type { Represent, RepresentationContext } from './representation.ts';

interface Connection {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly endCursor: string };
  readonly edges: readonly { readonly node: unknown }[];
}

/** The parameters that say where a page begins. */
const POSITION = ['after', 'cursor'];

/** Returns the response of a list of events. `nextCursor` is always there: a client that has read all asks with it for later ones. */
export function toEventsResponse(result: unknown, represent: Represent, context: RepresentationContext): RouteResponse {
  const { edges, pageInfo } = result as Connection;
  const { hasNextPage, hasPreviousPage: hasPrevPage, endCursor: nextCursor } = pageInfo;
  const limit = context.paging?.variant === 'cursor' ? context.paging.limit : 0;
  const links = [`<${toTargetWith(context, {}, POSITION)}>; rel="first"`];
  if (hasNextPage) links.push(`<${toTargetWith(context, { after: nextCursor }, POSITION)}>; rel="next"`);
  return {
    status: 200,
    body: {
      data: edges.map(({ node }) => represent(node).body),
      pagination: { limit, hasNextPage, hasPrevPage, nextCursor, prevCursor: null },
    },
    headers: { link: links.join(', ') },
  };
}
