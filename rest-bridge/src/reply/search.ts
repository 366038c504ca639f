/** What a search found, as one list over several kinds (spec §4.2, §4.4). No I/O. */
import { KINDS, type Kind, type SearchPosition, toSearchCursor } from '../query/search.ts';
import type { Outcome, ReplyRequest, Shown } from '../routes/row.ts';

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly edges: readonly { readonly cursor: string; readonly node: Readonly<Record<string, unknown>> }[];
}

const COLLECTIONS = { user: 'users', post: 'posts', comment: 'comments' } as const satisfies Record<Kind, string>;

export function toSearchBody(answer: unknown, _show: (data: unknown) => Shown, request: ReplyRequest): Outcome {
  const pages = answer as Readonly<Partial<Record<Kind, Page>>>;
  const { paging } = request.reading;
  const limit = paging?.variant === 'cursor' ? paging.limit : 0;
  const found = KINDS.flatMap((kind) => (pages[kind]?.edges ?? []).map(({ cursor, node }) => ({ kind, cursor, node })));
  const shown = found.slice(0, limit);
  const next = found.length > limit ? shown.at(-1) : findRest(pages, shown.at(-1));
  const nextCursor = next ? toSearchCursor(next) : null;
  const hasPrevPage = paging?.variant === 'cursor' && paging.cursor !== '';
  return {
    status: 200,
    body: {
      data: shown.map(({ kind, node }) => showResult(kind, node, request.prefix)),
      pagination: { limit, hasNextPage: nextCursor !== null, hasPrevPage, nextCursor, prevCursor: null },
    },
    ...(nextCursor !== null && { headers: { link: `<${toNextPath(request, nextCursor)}>; rel="next"` } }),
  };
}

/** All that was fetched is shown; whether a kind has more tells whether there is a next page. */
function findRest(pages: Readonly<Partial<Record<Kind, Page>>>, last: SearchPosition | undefined): SearchPosition | undefined {
  return last && pages[last.kind]?.pageInfo.hasNextPage ? last : undefined;
}

function showResult(type: Kind, { status, post, ...node }: Readonly<Record<string, unknown>>, prefix: string): object {
  return {
    type,
    ...node,
    ...(typeof status === 'string' && { status: status.toLowerCase() }),
    ...(typeof post === 'object' && post !== null && { postId: (post as { id: string }).id }),
    _links: { self: { href: `${prefix}/${COLLECTIONS[type]}/${String(node['id'])}` } },
  };
}

function toNextPath({ prefix, path, search }: ReplyRequest, cursor: string): string {
  const query = new URLSearchParams(search);
  query.delete('after');
  query.set('cursor', cursor);
  return `${prefix}${path}?${query.toString()}`;
}
