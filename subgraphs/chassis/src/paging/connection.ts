/** Relay connections from rows that were read by page-query.ts (spec §2.3). No I/O. */
import { type Window, toCursor } from './window.ts';

/** Where a page begins and ends, and whether there are rows before and behind it (Relay cursor connections §5). */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** The value behind a connection type; the rows are counted only when a client selects `totalCount`. */
export interface Connection<Row> {
  readonly edges: readonly { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: PageInfo;
  readonly countTotal: () => Promise<number>;
}

/** Converts `rows` as read for the window (up to one more than its limit, reversed for a window from the end) to a connection. */
export function toConnection<Row extends object>(rows: readonly Row[], window: Window, countTotal: () => Promise<number>): Connection<Row> {
  const more = rows.length > window.limit;
  const page = rows.slice(0, window.limit);
  if (window.backward) page.reverse();
  const edges = page.map((node) => ({ cursor: toCursor(node, window), node }));
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

/** Returns the rows of a connection, for fields that are plain lists. */
export function nodesOf<Row>({ edges }: Pick<Connection<Row>, 'edges'>): Row[] {
  return edges.map(({ node }) => node);
}

/** The resolvers that every connection type has. */
export const connectionResolvers = {
  totalCount: (connection: Pick<Connection<unknown>, 'countTotal'>): Promise<number> => connection.countTotal(),
};
