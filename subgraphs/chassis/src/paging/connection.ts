/** Relay connections from rows that were read by page-query.ts (spec §2.3). No I/O. */
import { type Window, toCursor } from './window.ts';

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** What a resolver gives for a connection type; `totalCount` is counted only when a client asks for it. */
export interface Connection<Row> {
  readonly edges: readonly { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: PageInfo;
  readonly countTotal: () => Promise<number>;
}

/** `rows` as read for the window: up to one more than its limit, in reverse for a window from the end. */
export function toConnection<Row extends object>(rows: readonly Row[], window: Window, countTotal: () => Promise<number>): Connection<Row> {
  const more = rows.length > window.limit;
  const page = rows.slice(0, window.limit);
  if (window.backward) page.reverse();
  const edges = page.map((node) => ({ cursor: toCursor(node, window.order), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: window.backward ? window.before !== undefined : more,
      hasPreviousPage: window.backward ? more : window.after !== undefined || window.offset > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    countTotal,
  };
}

/** The resolvers of every connection type. */
export const connectionResolvers = {
  totalCount: (connection: Pick<Connection<unknown>, 'countTotal'>): Promise<number> => connection.countTotal(),
};
