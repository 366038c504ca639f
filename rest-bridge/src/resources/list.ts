/** Represents a connection as a list in the envelope of its paging variant, with `Link` headers (spec §4.4, RFC 8288). No I/O. */
import { toTargetWith } from '../http/request-target.ts';
import type { RouteResponse } from '../http/response.ts';
import { MAX_OFFSET, type Paging, toBackwardCursor, toMaxPage } from '../query/paging.ts';
import type { Represent, RepresentationContext } from './representation.ts';

interface Connection {
  readonly totalCount?: number;
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly edges: readonly { readonly node: unknown }[];
}

/** The parameters of other pages by link relation (`next`, `prev`, …). */
type Pages = Readonly<Record<string, Readonly<Record<string, string | number>>>>;

interface PagedEnvelope {
  readonly envelope: object;
  readonly pages: Pages;
}

const PAGING_PARAMETERS = ['page', 'limit', 'perPage', 'offset', 'cursor', 'after'];

/** Returns the response of a list. `result` is a connection. */
export function toListResponse(result: unknown, represent: Represent, context: RepresentationContext): RouteResponse {
  const connection = result as Connection;
  const { paging } = context;
  if (!paging) throw new Error('A list needs paging');
  const data = connection.edges.map(({ node }) => represent(node).body);
  const { envelope, pages } = toEnvelope(paging, connection);
  const toTarget = (parameters: Pages[string]) => toTargetWith(context, parameters, PAGING_PARAMETERS);
  const link = Object.entries(pages).map(([rel, parameters]) => `<${toTarget(parameters)}>; rel="${rel}"`);
  const links = paging.variant === 'perPage' && {
    links: Object.fromEntries(['first', 'prev', 'next', 'last'].map((rel) => [rel, pages[rel] ? toTarget(pages[rel]) : null])),
  };
  return { status: 200, body: { data, ...envelope, ...links }, ...(link.length > 0 && { headers: { link: link.join(', ') } }) };
}

/** Returns the response of a short list without pages, in the envelope of a list whose first page is the last one. `result` is an array. */
export function toWholeListResponse(result: unknown, represent: Represent, context: RepresentationContext): RouteResponse {
  const edges = (result as readonly unknown[]).map((node) => ({ node }));
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  const { body } = toListResponse({ totalCount: edges.length, pageInfo, edges }, represent, context);
  const target = toTargetWith(context, {}, PAGING_PARAMETERS);
  return { status: 200, body, headers: { link: `<${target}>; rel="first", <${target}>; rel="last"` } };
}

function toEnvelope(paging: Paging, connection: Connection): PagedEnvelope {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = connection.pageInfo;
  const total = connection.totalCount ?? 0;
  switch (paging.variant) {
    case 'page': {
      const { page, limit } = paging;
      const totalPages = Math.ceil(total / limit);
      const pagination = { page, limit, total, totalPages, hasNextPage, nextCursor: hasNextPage ? endCursor : null };
      return {
        envelope: { pagination },
        pages: toNumberedPages({ page, last: Math.min(totalPages, toMaxPage(limit, paging.maxOffset)) }, { limit }),
      };
    }
    case 'perPage': {
      const { page, perPage } = paging;
      const totalPages = Math.ceil(total / perPage);
      const meta = { currentPage: page, totalPages, perPage, totalCount: total };
      return {
        envelope: { meta },
        pages: toNumberedPages({ page, last: Math.min(totalPages, toMaxPage(perPage, paging.maxOffset)) }, { perPage }),
      };
    }
    case 'offset': {
      const { offset, limit } = paging;
      const isLast = !hasNextPage || offset + limit > (paging.maxOffset ?? MAX_OFFSET);
      const next = !isLast && { next: { offset: offset + limit, limit } };
      const prev = offset > 0 && { prev: { offset: Math.max(0, offset - limit), limit } };
      const pagination = { total, limit, offset, hasMore: hasNextPage };
      return { envelope: { pagination }, pages: { first: { offset: 0, limit }, ...prev, ...next } };
    }
    case 'cursor': {
      const { limit } = paging;
      const nextCursor = hasNextPage ? endCursor : null;
      const prevCursor = hasPreviousPage && startCursor !== null ? toBackwardCursor(startCursor) : null;
      const pages = {
        // The empty cursor is that of the first page. So every list has a link, also one whose pages cannot be numbered (contract §4).
        first: { cursor: '', limit },
        ...(prevCursor !== null && { prev: { cursor: prevCursor, limit } }),
        ...(nextCursor !== null && { next: { cursor: nextCursor, limit } }),
      };
      return { envelope: { pagination: { limit, hasNextPage, hasPrevPage: hasPreviousPage, nextCursor, prevCursor } }, pages };
    }
  }
}

interface Numbers {
  readonly page: number;
  /** The last page that there is and that can be requested; 0 for an empty list. */
  readonly last: number;
}

/** Returns pages that can be requested only: the number of the last one is limited. */
function toNumberedPages({ page, last }: Numbers, size: Readonly<Record<string, number>>): Pages {
  return {
    first: { page: 1, ...size },
    ...(page > 1 && { prev: { page: Math.max(1, Math.min(page - 1, last)), ...size } }),
    ...(page < last && { next: { page: page + 1, ...size } }),
    last: { page: Math.max(1, last), ...size },
  };
}
