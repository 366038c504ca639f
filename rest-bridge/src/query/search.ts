/** Reads a search: its words, its kinds, and how far it has come (spec §4.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Reading, RowRequest } from './reading.ts';
import type { Parameters } from './parameters.ts';

/** In the order in which they are shown: accounts first, then posts, then comments. */
export const KINDS = ['user', 'post', 'comment'] as const;
export type Kind = (typeof KINDS)[number];

/** Where a page ended: behind this row of its kind; without a cursor, before the first of it. */
export interface SearchPosition {
  readonly kind: Kind;
  readonly cursor: string | undefined;
}

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 10;

/** `q` is needed; `type` is one kind or several, all of them by default; `limit` with `cursor` (or `after`) leads on. */
export function readSearch({ query }: RowRequest, faults: FieldFault[]): Reading {
  const q = query.take('q') ?? '';
  if (q.trim() === '') faults.push({ field: 'q', message: 'is required' });
  const kinds = readKinds(query, faults);
  const limit = readLimit(query, faults);
  const cursor = query.take('cursor') ?? query.take('after') ?? '';
  const position = readSearchCursor(cursor);
  if (cursor !== '' && (!position || !kinds.includes(position.kind)))
    faults.push({ field: 'cursor', message: 'is not a cursor of this search' });
  const start = KINDS.indexOf(position?.kind ?? 'user');
  const isOpen = (kind: Kind) => kinds.includes(kind) && KINDS.indexOf(kind) >= start;
  const after = (kind: Kind) => (position?.kind === kind && position.cursor !== undefined ? position.cursor : null);
  return {
    paging: { variant: 'cursor', cursor, limit },
    variables: {
      q,
      first: limit,
      ...{ users: isOpen('user'), posts: isOpen('post'), comments: isOpen('comment') },
      ...{ afterUser: after('user'), afterPost: after('post'), afterComment: after('comment') },
    },
  };
}

function readKinds(query: Parameters, faults: FieldFault[]): readonly Kind[] {
  const wanted = query.takeList('type');
  if (wanted === undefined) return KINDS;
  if (wanted.some((kind) => !KINDS.some((known) => known === kind)))
    faults.push({ field: 'type', message: `must be of ${KINDS.join(', ')}` });
  return KINDS.filter((kind) => wanted.includes(kind));
}

function readLimit(query: Parameters, faults: FieldFault[]): number {
  const text = query.take('limit');
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  faults.push({ field: 'limit', message: `must be a whole number from 1 to ${String(MAX_LIMIT)}` });
  return DEFAULT_LIMIT;
}

export function toSearchCursor({ kind, cursor }: SearchPosition): string {
  return Buffer.from(JSON.stringify([kind, ...(cursor === undefined ? [] : [cursor])])).toString('base64url');
}

function readSearchCursor(text: string): SearchPosition | undefined {
  try {
    const [name, cursor] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const kind = KINDS.find((known) => known === name);
    return kind && (cursor === undefined || typeof cursor === 'string') ? { kind, cursor } : undefined;
  } catch {
    return undefined;
  }
}
