/** Parses paging parameters into one of four variants (spec §4.3, contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { changesUpTo } from '../versions/changelog.ts';
import { parseInteger } from './integer-parameter.ts';
import type { Parameters } from './parameters.ts';

/** The paging of a list, by variant. */
export type Paging =
  | ({ readonly variant: 'page'; readonly page: number; readonly limit: number } & Skipping)
  | ({ readonly variant: 'perPage'; readonly page: number; readonly perPage: number } & Skipping)
  | ({ readonly variant: 'offset'; readonly offset: number; readonly limit: number } & Skipping)
  | { readonly variant: 'cursor'; readonly cursor: string; readonly limit: number };

/** A variant that skips items. */
interface Skipping {
  /** How many items the list may skip. Default: {@link MAX_OFFSET}. */
  readonly maxOffset?: number;
}

/** How many items a page may have, and has by default. */
export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 10;
/** How many items a list may skip, unless its route says otherwise. */
export const MAX_OFFSET = 1_000_000;
/** Prefix of a cursor to the previous page, inside the base64url encoding (spec §4.4). */
const BACKWARD = '~';
const BASE64URL = /^[\w-]+={0,2}$/;

/** Parameters that select a variant; those of different variants cannot be combined. */
const SELECTORS = [
  ['perPage', 'perPage'],
  ['offset', 'offset'],
  ['cursor', 'cursor'],
  ['after', 'cursor'],
] as const;

/** Returns the paging of lists without paging parameters: by page in version 1, by cursor from version 2 on (contract §4). */
export function defaultPaging(version: number): 'page' | 'cursor' {
  return changesUpTo(version).findLast((change) => change.kind === 'paging')?.variant ?? 'page';
}

/** Returns the paging of a list that is always sent as a whole, of at most 100 items. */
export function wholeListPaging(version: number): Paging {
  const limit = MAX_LIMIT;
  return defaultPaging(version) === 'page' ? { variant: 'page', page: 1, limit } : { variant: 'cursor', cursor: '', limit };
}

interface PagingRule {
  readonly faults: FieldFault[];
  readonly fallback: 'page' | 'cursor';
  readonly maxOffset?: number | undefined;
}

/** Parses the paging parameters; the default is the first ten items. Adds a fault for a value out of range and for mixed variants. */
export function parsePaging(query: Parameters, { faults, fallback, maxOffset = MAX_OFFSET }: PagingRule): Paging {
  const selectors = SELECTORS.filter(([name]) => query.has(name));
  const page = query.has('page') ? 'page' : undefined;
  const variant = selectors[0]?.[1] ?? page ?? fallback;
  if (selectors.length > 1) faults.push({ field: selectors[1]?.[0] ?? '', message: `cannot be combined with ${selectors[0]?.[0] ?? ''}` });
  if (page && (variant === 'offset' || variant === 'cursor'))
    faults.push({ field: page, message: `cannot be combined with ${selectors[0]?.[0] ?? ''}` });
  if (variant === 'perPage' && query.has('limit')) faults.push({ field: 'limit', message: 'cannot be combined with perPage' });

  const limit = parsePageSize(query, 'limit', faults);
  const perPage = parsePageSize(query, 'perPage', faults);
  const offset = parseInteger(query, { name: 'offset', min: 0, max: maxOffset, fallback: 0 }, faults);
  const maxPage = toMaxPage(variant === 'perPage' ? perPage : limit, maxOffset);
  const pageNumber = parseInteger(query, { name: 'page', min: 1, max: maxPage, fallback: 1 }, faults);
  const cursor = query.take('cursor') ?? query.take('after') ?? '';
  query.take('after');

  const bound = maxOffset === MAX_OFFSET ? NO_BOUND : { maxOffset };
  switch (variant) {
    case 'page':
      return { variant, page: pageNumber, limit, ...bound };
    case 'perPage':
      return { variant, page: pageNumber, perPage, ...bound };
    case 'offset':
      return { variant, offset, limit, ...bound };
    case 'cursor':
      return { variant, cursor, limit };
  }
}

const NO_BOUND: Skipping = {};

/** Returns the number of the last page that a list has, however many items there are: the items before it are at most `maxOffset`. */
export function toMaxPage(size: number, maxOffset = MAX_OFFSET): number {
  return Math.floor(maxOffset / size) + 1;
}

/** Parses `cursor`, or `after`, of a list that has no other paging. Returns an empty string without both, and adds a fault for both. */
export function parseCursor(query: Parameters, faults: FieldFault[]): string {
  const [cursor, after] = [query.take('cursor'), query.take('after')];
  if (cursor !== undefined && after !== undefined) faults.push({ field: 'after', message: 'cannot be combined with cursor' });
  return cursor ?? after ?? '';
}

/** Parses a number of items per page, 1 to 100; the default is 10. */
export function parsePageSize(query: Parameters, name: string, faults: FieldFault[]): number {
  return parseInteger(query, { name, min: 1, max: MAX_LIMIT, fallback: DEFAULT_LIMIT }, faults);
}

/** Returns the names of cursors in a request that sends them as `after`, by the arguments that they become; undefined for any other request. */
export function toCursorNames(search: URLSearchParams): Readonly<Record<string, string>> | undefined {
  return search.has('after') ? SENT_AS_AFTER : undefined;
}

const SENT_AS_AFTER = { after: 'after', before: 'after' };

/** Returns the arguments of the connection field; the total is counted only for variants that show it. */
export function toConnectionArguments(paging: Paging): Record<string, unknown> {
  switch (paging.variant) {
    case 'page':
      return { first: paging.limit, offset: (paging.page - 1) * paging.limit, withTotal: true };
    case 'perPage':
      return { first: paging.perPage, offset: (paging.page - 1) * paging.perPage, withTotal: true };
    case 'offset':
      return { first: paging.limit, offset: paging.offset, withTotal: true };
    case 'cursor': {
      const before = parseBackwardCursor(paging.cursor);
      return before === undefined
        ? { first: paging.limit, ...(paging.cursor && { after: paging.cursor }), withTotal: false }
        : { last: paging.limit, before, withTotal: false };
    }
  }
}

/** Returns the cursor of the page that ends before `startCursor`. */
export function toBackwardCursor(startCursor: string): string {
  return Buffer.concat([Buffer.from(BACKWARD), Buffer.from(startCursor, 'base64url')]).toString('base64url');
}

function parseBackwardCursor(cursor: string): string | undefined {
  if (!BASE64URL.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  return bytes.subarray(0, 1).toString() === BACKWARD ? bytes.subarray(1).toString('base64url') : undefined;
}
