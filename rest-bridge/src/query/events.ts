/** Parses the parameters of `GET /events` (contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { parseCursor, parsePageSize } from './paging.ts';
import type { ReaderInput, ReaderResult } from './request-reader.ts';

/** Returns the variables of a list or a stream of events: `type` lists types, `after` (or `cursor`) is where the last one ended. */
export function parseEvents({ query }: ReaderInput, faults: FieldFault[]): ReaderResult {
  const types = query.takeList('type') ?? null;
  const limit = parsePageSize(query, 'limit', faults);
  const start = parseCursor(query, faults);
  return { paging: { variant: 'cursor', cursor: start, limit }, variables: { first: limit, after: start === '' ? null : start, types } };
}
