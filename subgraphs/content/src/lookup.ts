/** Finds one thing by its id, all of one request in one statement, and says why it is not there. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import { fail } from '@trestle/schema/errors';

export interface Lookup<Row> {
  /** The thing, or null where there is none that the caller may see. */
  find(id: string): Promise<Row | null>;
  /** As `find`; throws GONE if it was deleted. That a thing existed is told to everybody, also of one that was hidden (contract §2). */
  findOrGone(id: string): Promise<Row | null>;
  /** As `findOrGone`; throws NOT_FOUND if there is none. */
  need(id: string): Promise<Row>;
  /** As `find`; throws NOT_FOUND if there is none, deleted or not. */
  needToDelete(id: string): Promise<Row>;
}

export interface LookupOptions<Row> {
  readonly noun: string;
  /** What the ids of this kind begin with; no other text gets as far as the database. */
  readonly prefix: string;
  readonly load: (ids: readonly string[]) => Promise<readonly Row[]>;
  /** Tells whether an id was deleted. */
  readonly wasDeleted: (id: string) => Promise<boolean>;
}

export function createLookup<Row extends { readonly id: string }>({ noun, prefix, load, wasDeleted }: LookupOptions<Row>): Lookup<Row> {
  const rows = createRowLoader(load, ({ id }) => id);
  const missing = () => fail('NOT_FOUND', `There is no such ${noun}`);
  const find = async (id: string) => (prefixOf(id) === prefix ? rows.load(id) : null);
  const findOrGone = async (id: string) => {
    const row = await find(id);
    if (!row && prefixOf(id) === prefix && (await wasDeleted(id))) throw fail('GONE', `The ${noun} was deleted`);
    return row;
  };
  return {
    find,
    findOrGone,
    need: async (id) => {
      const row = await findOrGone(id);
      if (!row) throw missing();
      return row;
    },
    needToDelete: async (id) => {
      const row = await find(id);
      if (!row) throw missing();
      return row;
    },
  };
}
