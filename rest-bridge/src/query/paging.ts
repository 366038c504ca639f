/** Reads paging parameters into one of four variants (spec §4.3, contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Parameters } from './parameters.ts';

export type Paging =
  | { readonly variant: 'page'; readonly page: number; readonly limit: number }
  | { readonly variant: 'perPage'; readonly page: number; readonly perPage: number }
  | { readonly variant: 'offset'; readonly offset: number; readonly limit: number }
  | { readonly variant: 'cursor'; readonly cursor: string; readonly limit: number };

const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const DEFAULT_LIMIT = 10;
/** Cursors to the page before carry this mark in front of the gateway's own. */
const BACKWARD = '~';

/** Which parameter makes which variant; two of different variants don't mix. */
const MARKS = [
  ['perPage', 'perPage'],
  ['offset', 'offset'],
  ['cursor', 'cursor'],
  ['after', 'cursor'],
] as const;

/** The default is `page=1&limit=10`. */
export function readPaging(query: Parameters, faults: FieldFault[]): Paging {
  const marks = MARKS.filter(([name]) => query.has(name));
  const variant = marks[0]?.[1] ?? 'page';
  const page = query.has('page') ? 'page' : undefined;
  if (marks.length > 1) faults.push({ field: marks[1]?.[0] ?? '', message: `does not go with ${marks[0]?.[0] ?? ''}` });
  if (page && (variant === 'offset' || variant === 'cursor'))
    faults.push({ field: page, message: `does not go with ${marks[0]?.[0] ?? ''}` });
  if (variant === 'perPage' && query.has('limit')) faults.push({ field: 'limit', message: 'does not go with perPage' });

  const number = (name: string, { min, max, fallback }: { min: number; max: number; fallback: number }): number => {
    const text = query.take(name);
    if (text === undefined) return fallback;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    faults.push({ field: name, message: `must be a whole number from ${String(min)} to ${String(max)}` });
    return fallback;
  };
  const size = { min: 1, max: MAX_LIMIT, fallback: DEFAULT_LIMIT };
  const limit = number('limit', size);
  const perPage = number('perPage', size);
  const offset = number('offset', { min: 0, max: MAX_OFFSET, fallback: 0 });
  const pageNumber = number('page', { min: 1, max: Math.floor(MAX_OFFSET / MAX_LIMIT), fallback: 1 });
  const cursor = query.take('cursor') ?? query.take('after') ?? '';
  query.take('after');

  switch (variant) {
    case 'page':
      return { variant, page: pageNumber, limit };
    case 'perPage':
      return { variant, page: pageNumber, perPage };
    case 'offset':
      return { variant, offset, limit };
    case 'cursor':
      return { variant, cursor, limit };
  }
}

/** The arguments of the connection field; totals are counted only for variants that show them. */
export function toWindow(paging: Paging): Record<string, unknown> {
  switch (paging.variant) {
    case 'page':
      return { first: paging.limit, offset: (paging.page - 1) * paging.limit, withTotal: true };
    case 'perPage':
      return { first: paging.perPage, offset: (paging.page - 1) * paging.perPage, withTotal: true };
    case 'offset':
      return { first: paging.limit, offset: paging.offset, withTotal: true };
    case 'cursor':
      return paging.cursor.startsWith(BACKWARD)
        ? { last: paging.limit, before: paging.cursor.slice(1), withTotal: false }
        : { first: paging.limit, ...(paging.cursor && { after: paging.cursor }), withTotal: false };
  }
}

/** The cursor that leads to the page before the one that begins at `startCursor`. */
export function toBackwardCursor(startCursor: string): string {
  return `${BACKWARD}${startCursor}`;
}
