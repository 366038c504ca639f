/** Reads the arguments of `Post.comments` (spec §2.3): the oldest first, from behind a comment that is named by its id or its cursor. No I/O. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { type Sorting, type Window, readWindow, toCursor } from '@trestle/chassis/paging/window';
import { Fault, rejectFaults } from '@trestle/schema/errors';

/** Ids sort by the time of making; so an id says by itself where to go on, even that of a comment which was deleted. */
const COMMENT_SORTING: Sorting<'ID'> = {
  columns: { ID: { column: 'id', type: 'text' } },
  default: { field: 'ID', direction: 'ASC' },
};
const { order } = readWindow({}, COMMENT_SORTING);

export interface CommentsArguments {
  readonly limit?: number | null;
  readonly after?: string | null;
  /** In place of `limit`, for Relay clients. */
  readonly first?: number | null;
  /** Whether the client gave `limit` itself; otherwise it has its default. */
  readonly hasLimit?: boolean;
}

/** Reads `limit` or `first`, and `after`. Throws VALIDATION_ERROR that names every faulty argument at once. */
export function readCommentsWindow({ limit = null, after = null, first = null, hasLimit = false }: CommentsArguments): Window {
  if (first !== null && hasLimit && limit !== null) rejectFaults([{ field: 'first', message: 'must not be given together with limit' }]);
  const cursor = after !== null && prefixOf(after) === 'cmt' ? toCursor({ id: after }, order) : after;
  try {
    return readWindow({ first: first ?? limit, after: cursor }, COMMENT_SORTING);
  } catch (error) {
    if (error instanceof Fault && first === null)
      rejectFaults((error.details ?? []).map((fault) => (fault.field === 'first' ? { ...fault, field: 'limit' } : fault)));
    throw error;
  }
}
