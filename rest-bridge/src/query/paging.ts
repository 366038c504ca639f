/** Reads paging parameters into one of four variants (spec §4.3, contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { changesUpTo } from '../versions/changelog.ts';
import type { Parameters } from './parameters.ts';

export type Paging =
  | { readonly variant: 'page'; readonly page: number; readonly limit: number }
  | { readonly variant: 'perPage'; readonly page: number; readonly perPage: number }
  | { readonly variant: 'offset'; readonly offset: number; readonly limit: number }
  | { readonly variant: 'cursor'; readonly cursor: string; readonly limit: number };

const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const DEFAULT_LIMIT = 10;
/** Cursors to the page before carry this mark in front of the gateway's own, inside of the base64 (spec §4.4). */
const BACKWARD = '~';
const BASE64URL = /^[\w-]+={0,2}$/;

/** Which parameter makes which variant; two of different variants don't mix. */
const MARKS = [
  ['perPage', 'perPage'],
  ['offset', 'offset'],
  ['cursor', 'cursor'],
  ['after', 'cursor'],
] as const;

/** How lists of a version are paged when no parameter says how: by page, or from version 2 on by cursor (contract §4). */
export function defaultPaging(version: number): 'page' | 'cursor' {
  return changesUpTo(version).findLast((change) => change.kind === 'paging')?.variant ?? 'page';
}

interface PagingRule {
  readonly faults: FieldFault[];
  readonly fallback: 'page' | 'cursor';
}

/** The default is ten rows from the start. */
export function readPaging(query: Parameters, { faults, fallback: usual }: PagingRule): Paging {
  const marks = MARKS.filter(([name]) => query.has(name));
  const page = query.has('page') ? 'page' : undefined;
  const variant = marks[0]?.[1] ?? page ?? usual;
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
    case 'cursor': {
      const before = readBackward(paging.cursor);
      return before === undefined
        ? { first: paging.limit, ...(paging.cursor && { after: paging.cursor }), withTotal: false }
        : { last: paging.limit, before, withTotal: false };
    }
  }
}

/** The cursor that leads to the page before the one that begins at `startCursor`. */
export function toBackwardCursor(startCursor: string): string {
  return Buffer.concat([Buffer.from(BACKWARD), Buffer.from(startCursor, 'base64url')]).toString('base64url');
}

function readBackward(cursor: string): string | undefined {
  if (!BASE64URL.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  return bytes.subarray(0, 1).toString() === BACKWARD ? bytes.subarray(1).toString('base64url') : undefined;
}
