/** Parses paging arguments and cursors into a window on a sorted list (spec §2.3, contract §3). No I/O. */
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { parseDateTime } from '../values/date-time.ts';

/** The most rows of a page (contract §3). */
export const MAX_PAGE_SIZE = 100;
/** The rows of a page where a client names no number. */
export const DEFAULT_PAGE_SIZE = 10;
const MAX_OFFSET = 1_000_000;

/** The column that holds the relevance of a row to a search, an integer. */
export const RELEVANCE = 'relevance';

/** A column that clients may sort by, and the type of its values in a cursor. */
export interface SortColumn {
  readonly column: string;
  /** PostgreSQL's name of the type, e.g. `timestamptz` or `"Role"`. */
  readonly type: string;
  /** Whether the column may be null; rows without a value come last in either direction. */
  readonly nullable?: boolean;
  /** All values of an enum type. */
  readonly values?: readonly string[];
}

/** A column of an order, with its direction. */
export interface SortKey extends SortColumn {
  readonly descending: boolean;
}

/** The position of a row in an order: the values of its sort keys. */
export type Position = readonly (string | number | boolean | null)[];

/** A section of a sorted list. */
export interface Window {
  /** The name of the list, as in `Sorting`. */
  readonly list: string;
  /** Ends with the id, so that no two rows have the same position. */
  readonly order: readonly SortKey[];
  readonly limit: number;
  readonly offset: number;
  /** Whether it is counted from the end (`last`). */
  readonly backward: boolean;
  readonly after: Position | undefined;
  readonly before: Position | undefined;
}

/** A list in one of its orders, which a cursor belongs to. */
type SortedList = Pick<Window, 'list' | 'order'>;

/** The arguments of a connection field. */
export interface WindowArguments<Field extends string> {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
  readonly orderBy?: readonly { readonly field: Field; readonly direction?: 'ASC' | 'DESC' }[] | null;
}

/** The orders that a list can have. */
export interface Sorting<Field extends string> {
  /** The name of the list in its cursors: no other list accepts them. */
  readonly list: string;
  readonly columns: Readonly<Record<Field, SortColumn>>;
  readonly default: { readonly field: Field; readonly direction: 'ASC' | 'DESC' };
  /** The PostgreSQL type of the id column, by default `text`. */
  readonly idType?: string;
}

/**
 * Parses the arguments of a connection field. Without `orderBy` the order is the default one; `isRanked` puts the relevance before it.
 * Throws VALIDATION_ERROR that names every faulty argument at once.
 */
export function parseWindow<Field extends string>(args: WindowArguments<Field>, sorting: Sorting<Field>, isRanked = false): Window {
  const relevance: SortKey[] = isRanked && !args.orderBy?.length ? [{ column: RELEVANCE, type: 'int4', descending: true }] : [];
  const order = [...relevance, ...parseOrder(args.orderBy, sorting)];
  const faults: FieldFault[] = [];
  const backward = typeof args.last === 'number';
  const limit = parseCount(args, faults);
  const offset = args.offset ?? 0;
  if (offset < 0 || offset > MAX_OFFSET) faults.push({ field: 'offset', message: `must be 0 to ${String(MAX_OFFSET)}` });
  if (offset > 0 && (backward || args.after != null || args.before != null))
    faults.push({ field: 'offset', message: 'must not be combined with last, after or before' });
  const { list } = sorting;
  const window = {
    list,
    order,
    limit,
    offset,
    backward,
    after: parseCursor('after', args.after, { list, order, faults }),
    before: parseCursor('before', args.before, { list, order, faults }),
  };
  rejectFaults(faults);
  return window;
}

/** Converts the position of a row of a window's list to an opaque cursor. */
export function toCursor(row: object, { list, order }: SortedList): string {
  const position = order.map(({ column }) => toPositionValue((row as Record<string, unknown>)[column]));
  return Buffer.from(JSON.stringify([signatureOf({ list, order }), ...position])).toString('base64url');
}

function parseOrder<Field extends string>(
  orderBy: WindowArguments<Field>['orderBy'],
  { columns, default: fallback, idType = 'text' }: Sorting<Field>,
): SortKey[] {
  const requested = orderBy?.length ? orderBy : [fallback];
  const keys: SortKey[] = requested.map(({ field, direction }) => ({ ...columns[field], descending: direction === 'DESC' }));
  const unique = keys.filter(({ column }, i) => keys.findIndex((key) => key.column === column) === i);
  const end = unique.findIndex(({ column }) => column === 'id');
  if (end >= 0) return unique.slice(0, end + 1);
  return [...unique, { column: 'id', type: idType, descending: unique.at(-1)?.descending ?? false }];
}

function parseCount({ first, last }: WindowArguments<string>, faults: FieldFault[]): number {
  if (first != null && last != null) faults.push({ field: 'last', message: 'must not be combined with first' });
  const [field, count] = last != null ? ['last', last] : ['first', first ?? DEFAULT_PAGE_SIZE];
  if (count < 1 || count > MAX_PAGE_SIZE) faults.push({ field, message: `must be 1 to ${String(MAX_PAGE_SIZE)}` });
  return count;
}

function parseCursor(
  field: string,
  cursor: string | null | undefined,
  { faults, ...sorted }: SortedList & { readonly faults: FieldFault[] },
): Position | undefined {
  if (cursor == null) return undefined;
  const position = decodeCursor(cursor, sorted);
  if (!position) faults.push({ field, message: 'is not a cursor of this list and sort order' });
  return position;
}

function decodeCursor(cursor: string, sorted: SortedList): Position | undefined {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(decoded)) return undefined;
  const [signature, ...values] = decoded as unknown[];
  const { order } = sorted;
  const isOfList = signature === signatureOf(sorted) || signature === unnamedSignatureOf(sorted);
  if (!isOfList || values.length !== order.length) return undefined;
  return order.every((key, i) => isValueOf(values[i], key)) ? (values as Position) : undefined;
}

function isValueOf(value: unknown, { type, values, nullable }: SortKey): boolean {
  if (value === null) return nullable === true;
  if (values) return typeof value === 'string' && values.includes(value);
  switch (type) {
    case 'int4':
      return Number.isInteger(value) && Math.abs(value as number) <= 2 ** 31 - 1;
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamptz':
      return isDateTime(value);
    default:
      return typeof value === 'string' && !value.includes('\0');
  }
}

function isDateTime(value: unknown): boolean {
  try {
    return Boolean(parseDateTime(value));
  } catch {
    return false;
  }
}

function toPositionValue(value: unknown): Position[number] {
  if (value instanceof Date) return value.toISOString();
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw fail('INTERNAL_ERROR', 'A sort key is missing from the row.');
}

function signatureOf(sorted: SortedList): string {
  return `${sorted.list}:${unnamedSignatureOf(sorted)}`;
}

/**
 * Returns the signature of cursors that were given out before version 0.1.0, which do not name their list. Clients may have stored them,
 * so they are accepted; version 0.2.0 refuses them.
 */
function unnamedSignatureOf({ order }: SortedList): string {
  return order.map(({ column, descending }) => `${column}${descending ? '-' : '+'}`).join('');
}
