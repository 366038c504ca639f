/** Reads the rows of one table: by id, as a connection, or as the connections of many parents. Every function runs one statement. */
import DataLoader from 'dataloader';
import type { Sql, SqlClient } from '../database/sql.ts';
import { type Total, createGroupLoader, createTotalLoader } from '../loading/loaders.ts';
import type { FindDeleted } from '../loading/tombstones.ts';
import { type Connection, toConnection } from '../paging/connection.ts';
import { type RowSet, countRows, countRowsBy, selectByIds, selectPage, selectPages } from '../paging/page-query.ts';
import { type Sorting, type Window, type WindowArguments, parseWindow } from '../paging/window.ts';
import type { Clock } from '../values/clock.ts';
import type { CreateId } from '../values/ids.ts';

/** What every store is built on. */
export interface StoreOptions<Client> {
  /** The Prisma client of the pool, or that of a transaction; a transaction within a transaction is a savepoint. */
  readonly prisma: Client;
  readonly createId: CreateId;
  readonly clock: Clock;
}

/** What a store is built on whose resources can be deleted. */
export interface DeletingStoreOptions<Client> extends StoreOptions<Client> {
  readonly findDeleted: FindDeleted;
}

/** What the reads of a table are created from. */
export interface RowStoreOptions<Scope, Field extends string> {
  readonly prisma: Pick<SqlClient, '$queryRaw'>;
  /** The columns that clients may sort by. */
  readonly sorting: Sorting<Field>;
  /**
   * Converts a scope, which is what restricts a list (a filter, what the caller may see), to the rows of the list. `parents` are the
   * parents whose rows are counted, if any: a condition on them may help PostgreSQL to find the rows.
   */
  readonly rowsOf: (scope: Scope, parents?: readonly string[]) => RowSet;
}

/** The lists of many parents: the column that holds a row's parent, and the scope of each list. */
export interface ListsBy<Row, Scope> {
  readonly by: keyof Row & string;
  readonly scope: Scope;
}

/** Reads rows of one table. */
export interface RowStore<Row, Scope, Field extends string> {
  readonly findByIds: (ids: readonly string[], scope: Scope) => Promise<Row[]>;
  /** Returns the rows of the window and one more, which shows whether there is a further page; reversed for a window from the end. */
  readonly list: (scope: Scope, window: Window) => Promise<Row[]>;
  readonly count: (scope: Scope) => Promise<number>;
  /** Returns the page that the arguments of a connection field select; of a search, by default the most relevant rows. Throws VALIDATION_ERROR. */
  readonly connection: (args: WindowArguments<Field>, scope: Scope) => Promise<Connection<Row>>;
  /** Creates a loader of the same page for each parent. `totals` counts the rows of a parent, by default with `totalsBy`. */
  readonly pagesBy: (lists: ListsBy<Row, Scope> & PagesOptions) => DataLoader<string, Connection<Row>>;
  /** Creates a loader of the number of rows of each parent. */
  readonly totalsBy: (lists: ListsBy<Row, Scope>) => DataLoader<string, number>;
}

/** The page of each parent. */
export interface PagesOptions {
  readonly window: Window;
  readonly totals?: DataLoader<string, number>;
}

/** Creates the reads of a table. */
export function createRowStore<Row extends object, Scope, Field extends string>({
  prisma,
  sorting,
  rowsOf,
}: RowStoreOptions<Scope, Field>): RowStore<Row, Scope, Field> {
  const read = <Result>(statement: Sql): Promise<Result[]> => Promise.resolve(prisma.$queryRaw<Result[]>(statement));
  const list = (scope: Scope, window: Window) => read<Row>(selectPage({ ...rowsOf(scope), window }));
  const count = async (scope: Scope) => (await read<{ count: number }>(countRows(rowsOf(scope))))[0]?.count ?? 0;
  const totalsBy = ({ by, scope }: ListsBy<Row, Scope>) =>
    createTotalLoader((keys) => read<Total>(countRowsBy(rowsOf(scope, keys), { by, keys })));

  return {
    findByIds: (ids, scope) => read<Row>(selectByIds(rowsOf(scope), ids)),
    list,
    count,
    async connection(args, scope) {
      const window = parseWindow(args, sorting, rowsOf(scope).search?.score !== undefined);
      return toConnection(await list(scope, window), window, () => count(scope));
    },
    pagesBy({ by, scope, window, totals = totalsBy({ by, scope }) }) {
      const rows = createGroupLoader(
        (keys) => read<Row>(selectPages({ ...rowsOf(scope), window }, { by, keys })),
        (row) => String(row[by]),
      );
      const toPage = async (parent: string) => toConnection(await rows.load(parent), window, () => totals.load(parent));
      return new DataLoader((parents) => Promise.all(parents.map(toPage)));
    },
    totalsBy,
  };
}
