/** Finds one resource by its id, all lookups of a request in one statement, and explains why it is not there. */
import { gone, notFound } from '../request/faults.ts';
import { createRowLoader } from './loaders.ts';

/** Finds resources of one type, as far as the caller may see them. */
export interface Lookup<Row> {
  /** Returns the resource, or null where there is none that the caller may see. */
  find(id: string): Promise<Row | null>;
  /** Like `find`; throws GONE if it was deleted and the caller could see it (contract §2, §3). */
  findOrGone(id: string): Promise<Row | null>;
  /** Like `findOrGone`; throws NOT_FOUND if there is none. */
  need(id: string): Promise<Row>;
  /** Like `find`; throws NOT_FOUND if there is none, deleted or not. */
  needToDelete(id: string): Promise<Row>;
}

/** How to find the resources of one type. */
export interface LookupOptions<Row> {
  /** What messages call the resource. */
  readonly noun: string;
  /** Whether a string can be an id of this type; other strings never reach the database. */
  readonly isId: (id: string) => boolean;
  readonly load: (ids: readonly string[]) => Promise<readonly Row[]>;
  /** Resolves with whether a resource with this id was deleted that the caller could see. Absent where nothing is ever deleted. */
  readonly wasDeleted?: (id: string) => Promise<boolean>;
}

/** Creates a lookup that remembers what it has found. */
export function createLookup<Row extends { readonly id: string | number }>(options: LookupOptions<Row>): Lookup<Row> {
  const { noun, isId, load, wasDeleted } = options;
  const rows = createRowLoader(load, ({ id }) => String(id));
  const find = async (id: string) => (isId(id) ? rows.load(id) : null);
  const findOrGone = async (id: string) => {
    const row = await find(id);
    if (!row && isId(id) && (await wasDeleted?.(id))) throw gone(noun, id);
    return row;
  };
  const required = (id: string, row: Row | null): Row => {
    if (!row) throw notFound(noun, id);
    return row;
  };
  return {
    find,
    findOrGone,
    need: async (id) => required(id, await findOrGone(id)),
    needToDelete: async (id) => required(id, await find(id)),
  };
}
