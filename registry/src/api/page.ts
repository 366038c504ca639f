/** The size of a page. No I/O. */
import { fail } from '@trestle/schema/errors';

const MAX_PAGE = 100;

/** The argument of every list that has pages. */
export interface Page {
  readonly first: number;
}

/** Returns a page size. Throws VALIDATION_ERROR for one that is not from 1 to 100. */
export function toFirst({ first }: Page): number {
  if (first >= 1 && first <= MAX_PAGE) return first;
  throw fail('VALIDATION_ERROR', 'The request is not valid', {
    details: [{ field: 'first', message: `must be 1 to ${String(MAX_PAGE)}` }],
  });
}
