/** Reads rows, pages and totals by the statements of the chassis, the same for every table of this subgraph. */
import type { Clock } from '@trestle/chassis/values/clock';
import type { CreateId } from '@trestle/chassis/values/ids';
import { type PageQuery, type Sql, countRows, countRowsBy, join, name, selectPage, selectPages, sql } from '@trestle/chassis/paging/page-query';
import type { Prisma } from './generated/prisma/client.ts';

/** What every store is built on. */
export interface StoreParts {
  /** The pool's client, or that of a transaction. */
  readonly prisma: Prisma.TransactionClient;
  readonly createId: CreateId;
  readonly clock: Clock;
  readonly findDeleted: (ids: readonly string[]) => Promise<{ id: string }[]>;
}

/** How many rows a parent has. */
export interface Total {
  readonly key: string;
  readonly count: number;
}

/** A table and the conditions that hold for all that is read of it; the table goes by the name `t`. */
export type Rows = Omit<PageQuery, 'window'>;
/** Many parents at once: the column that names a row's parent, and the parents. */
interface Parents {
  readonly by: string;
  readonly keys: readonly string[];
}

/** Each function runs one statement. */
export function createRows<Row>(prisma: Prisma.TransactionClient) {
  return {
    findByIds: ({ table, where }: Rows, ids: readonly string[]): Promise<Row[]> =>
      prisma.$queryRaw<Row[]>(selectByIds({ table, where }, ids)),
    page: (query: PageQuery): Promise<Row[]> => prisma.$queryRaw<Row[]>(selectPage(query)),
    pages: (query: PageQuery, parents: Parents): Promise<Row[]> => prisma.$queryRaw<Row[]>(selectPages(query, parents)),
    totals: (rows: Rows, parents: Parents): Promise<Total[]> => prisma.$queryRaw<Total[]>(countRowsBy(rows, parents)),
    async total(rows: Rows): Promise<number> {
      const [row] = await prisma.$queryRaw<{ count: number }[]>(countRows(rows));
      return row?.count ?? 0;
    },
  };
}

function selectByIds({ table, where }: Rows, ids: readonly string[]): Sql {
  return sql`SELECT t.* FROM ${name(table)} t WHERE ${join([sql`t."id" = ANY(${ids}::text[])`, ...where], ' AND ')}`;
}
