/** The same page of many parents' lists: their rows in one statement, their totals in one more and only when asked for. */
import { type Connection, toConnection } from '@trestle/chassis/paging/connection';
import { createGroupLoader, createRowLoader } from '@trestle/chassis/loading/loaders';
import type { Window } from '@trestle/chassis/paging/window';
import DataLoader from 'dataloader';

export interface PagesOptions<Row> {
  readonly window: Window;
  /** The parent that a row belongs to. */
  readonly parentOf: (row: Row) => string;
  readonly list: (parents: readonly string[], window: Window) => Promise<readonly Row[]>;
  readonly count: (parents: readonly string[]) => Promise<readonly { readonly key: string; readonly count: number }[]>;
}

/** Loads a connection for each parent's id. */
export function createPages<Row extends object>({ window, parentOf, list, count }: PagesOptions<Row>): DataLoader<string, Connection<Row>> {
  const rows = createGroupLoader((parents) => list(parents, window), parentOf);
  const totals = createRowLoader(count, ({ key }) => key);
  return new DataLoader((parents) =>
    Promise.all(
      parents.map(async (parent) => toConnection(await rows.load(parent), window, async () => (await totals.load(parent))?.count ?? 0)),
    ),
  );
}
