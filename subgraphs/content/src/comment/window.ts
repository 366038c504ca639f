/** Parses the arguments of `Post.comments` (spec §2.3): oldest first, after a comment that is given by its id or its cursor. No I/O. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { type Sorting, type Window, parseWindow, toCursor } from '@trestle/chassis/paging/window';
import { Fault, rejectFaults } from '@trestle/schema/errors';

/** Ids sort by creation time, so any id marks a position, even that of a deleted comment. */
const COMMENT_SORTING: Sorting<'ID'> = {
  list: 'comments',
  columns: { ID: { column: 'id', type: 'text' } },
  default: { field: 'ID', direction: 'ASC' },
};
const window = parseWindow({}, COMMENT_SORTING);

export interface CommentsArguments {
  readonly limit?: number | null;
  readonly after?: string | null;
  /** Instead of `limit`, for Relay clients. */
  readonly first?: number | null;
  /** Whether the client sent `limit`; otherwise it has its default. */
  readonly hasLimit?: boolean;
}

/** Parses `limit` or `first`, and `after`. Throws VALIDATION_ERROR with every fault. */
export function parseCommentsWindow({ limit = null, after = null, first = null, hasLimit = false }: CommentsArguments): Window {
  if (first !== null && hasLimit && limit !== null) rejectFaults([{ field: 'first', message: 'must not be combined with limit' }]);
  const cursor = after !== null && prefixOf(after) === 'cmt' ? toCursor({ id: after }, window) : after;
  try {
    return parseWindow({ first: first ?? limit, after: cursor }, COMMENT_SORTING);
  } catch (error) {
    if (error instanceof Fault && first === null)
      rejectFaults((error.details ?? []).map((fault) => (fault.field === 'first' ? { ...fault, field: 'limit' } : fault)));
    throw error;
  }
}
