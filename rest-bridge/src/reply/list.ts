/** Lists in the envelope of their paging variant, with `Link` headers (spec §4.4, RFC 8288). No I/O. */
import { type Paging, toBackwardCursor } from '../query/paging.ts';
import type { Outcome, ReplyRequest, Shown } from '../routes/row.ts';

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

/** Pages by relation (`next`, `prev`, …), each as the parameters that lead to it. */
type Pages = Readonly<Record<string, Readonly<Record<string, string | number>>>>;

export function toListBody(answer: unknown, show: (data: unknown) => Shown, request: ReplyRequest): Outcome {
  const connection = answer as Connection;
  const data = connection.edges.map(({ node }) => show(node).body);
  const { paging } = request.reading;
  if (!paging) throw new Error('A list needs paging');
  const { envelope, pages } = describePage(paging, connection);
  const link = Object.entries(pages).map(([rel, parameters]) => `<${toPath(request, parameters)}>; rel="${rel}"`);
  const links = paging.variant === 'perPage' && {
    links: Object.fromEntries(['first', 'prev', 'next', 'last'].map((rel) => [rel, pages[rel] ? toPath(request, pages[rel]) : null])),
  };
  return { status: 200, body: { data, ...envelope, ...links }, ...(link.length > 0 && { headers: { link: link.join(', ') } }) };
}

function describePage(paging: Paging, connection: Connection): { envelope: object; pages: Pages } {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = connection.pageInfo;
  const total = connection.totalCount ?? 0;
  switch (paging.variant) {
    case 'page': {
      const { page, limit } = paging;
      const totalPages = Math.ceil(total / limit);
      const pagination = { page, limit, total, totalPages, hasNextPage, nextCursor: hasNextPage ? endCursor : null };
      return { envelope: { pagination }, pages: numbered(page, totalPages, { limit }) };
    }
    case 'perPage': {
      const { page, perPage } = paging;
      const totalPages = Math.ceil(total / perPage);
      return {
        envelope: { meta: { currentPage: page, totalPages, perPage, totalCount: total } },
        pages: numbered(page, totalPages, { perPage }),
      };
    }
    case 'offset': {
      const { offset, limit } = paging;
      const next = hasNextPage && { next: { offset: offset + limit, limit } };
      const prev = offset > 0 && { prev: { offset: Math.max(0, offset - limit), limit } };
      return {
        envelope: { pagination: { total, limit, offset, hasMore: hasNextPage } },
        pages: { first: { offset: 0, limit }, ...prev, ...next },
      };
    }
    case 'cursor': {
      const { limit } = paging;
      const nextCursor = hasNextPage ? endCursor : null;
      const prevCursor = hasPreviousPage && startCursor !== null ? toBackwardCursor(startCursor) : null;
      const pages = {
        ...(prevCursor !== null && { prev: { cursor: prevCursor, limit } }),
        ...(nextCursor !== null && { next: { cursor: nextCursor, limit } }),
      };
      return { envelope: { pagination: { limit, hasNextPage, hasPrevPage: hasPreviousPage, nextCursor, prevCursor } }, pages };
    }
  }
}

function numbered(page: number, totalPages: number, size: Readonly<Record<string, number>>): Pages {
  const last = Math.max(1, totalPages);
  return {
    first: { page: 1, ...size },
    ...(page > 1 && { prev: { page: Math.min(page - 1, last), ...size } }),
    ...(page < totalPages && { next: { page: page + 1, ...size } }),
    last: { page: last, ...size },
  };
}

/** The same list with other paging: filters, sort and shape stay. */
function toPath({ prefix, path, search }: ReplyRequest, parameters: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams(search);
  for (const name of ['page', 'limit', 'perPage', 'offset', 'cursor', 'after']) query.delete(name);
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  return `${prefix}${path}?${query.toString()}`;
}
