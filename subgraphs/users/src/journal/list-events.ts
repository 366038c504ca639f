/** Lists the events that a caller may learn of. */
import type { Connection } from '@trestle/chassis/paging/connection';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@trestle/chassis/paging/window';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import type { QueryEventsArgs } from '../generated/resolvers.ts';
import { type JournalEvent, parseCursor, toEventScope } from './rules.ts';
import type { JournalStore } from './store.ts';

/** Returns a page. Throws VALIDATION_ERROR or GONE. */
export async function listEvents(
  caller: Caller,
  { first, after, types }: Partial<QueryEventsArgs>,
  journal: Pick<JournalStore, 'connection'>,
): Promise<Connection<JournalEvent>> {
  const limit = first ?? DEFAULT_PAGE_SIZE;
  if (limit < 1 || limit > MAX_PAGE_SIZE) rejectFaults([{ field: 'first', message: `must be 1 to ${String(MAX_PAGE_SIZE)}` }]);
  return journal.connection(toEventScope(caller, types), { after: parseCursor(after), limit });
}
