/** Reads paging arguments and cursors into a window on a sorted list (spec §2.3, contract §3). No I/O. */
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { readDateTime } from '../graphql/scalars.ts';

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 10;
const MAX_OFFSET = 1_000_000;

/** A column that clients may sort by, and what its values look like in a cursor. */
export interface SortColumn {
  readonly column: string;
  /** PostgreSQL's name of the type, e.g. `timestamptz` or `"Role"`. */
  readonly type: string;
  /** Rows without a value come last in either direction. */
  readonly nullable?: boolean;
  /** All values of an enum type. */
  readonly values?: readonly string[];
}

export interface SortKey extends SortColumn {
  readonly descending: boolean;
}

/** The values of a row's sort keys: where it stands in the order. */
export type Position = readonly (string | number | boolean | null)[];

export interface Window {
  /** Ends with the id, so that no two rows stand in the same place. */
  readonly order: readonly SortKey[];
  readonly limit: number;
  readonly offset: number;
  /** Whether it was asked for from the end (`last`). */
  readonly backward: boolean;
  readonly after: Position | undefined;
  readonly before: Position | undefined;
}

export interface WindowArguments<Field extends string> {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
  readonly orderBy?: readonly { readonly field: Field; readonly direction?: 'ASC' | 'DESC' }[] | null;
}

export interface Sorting<Field extends string> {
  readonly columns: Readonly<Record<Field, SortColumn>>;
  readonly default: { readonly field: Field; readonly direction: 'ASC' | 'DESC' };
  /** The type of the id column; `text` unless told otherwise. */
  readonly idType?: string;
}

/** Reads the arguments of a connection field. Throws VALIDATION_ERROR that names every faulty argument at once. */
export function readWindow<Field extends string>(args: WindowArguments<Field>, sorting: Sorting<Field>): Window {
  const order = readOrder(args.orderBy, sorting);
  const faults: FieldFault[] = [];
  const backward = typeof args.last === 'number';
  const limit = readCount(args, faults);
  const offset = args.offset ?? 0;
  if (offset < 0 || offset > MAX_OFFSET) faults.push({ field: 'offset', message: `must be 0 to ${String(MAX_OFFSET)}` });
  if (offset > 0 && (backward || args.after != null || args.before != null))
    faults.push({ field: 'offset', message: 'goes with first only' });
  const window = {
    order,
    limit,
    offset,
    backward,
    after: readCursor('after', args.after, { order, faults }),
    before: readCursor('before', args.before, { order, faults }),
  };
  rejectFaults(faults);
  return window;
}

/** Writes a row's place in the order as an opaque cursor. */
export function toCursor(row: object, order: readonly SortKey[]): string {
  const position = order.map(({ column }) => toPositionValue((row as Record<string, unknown>)[column]));
  return Buffer.from(JSON.stringify([signatureOf(order), ...position])).toString('base64url');
}

function readOrder<Field extends string>(
  orderBy: WindowArguments<Field>['orderBy'],
  { columns, default: fallback, idType = 'text' }: Sorting<Field>,
): SortKey[] {
  const asked = orderBy?.length ? orderBy : [fallback];
  const keys: SortKey[] = asked.map(({ field, direction }) => ({ ...columns[field], descending: direction === 'DESC' }));
  const unique = keys.filter(({ column }, i) => keys.findIndex((key) => key.column === column) === i);
  const end = unique.findIndex(({ column }) => column === 'id');
  if (end >= 0) return unique.slice(0, end + 1);
  return [...unique, { column: 'id', type: idType, descending: unique.at(-1)?.descending ?? false }];
}

function readCount({ first, last }: WindowArguments<string>, faults: FieldFault[]): number {
  if (first != null && last != null) faults.push({ field: 'last', message: 'goes without first' });
  const [field, count] = last != null ? ['last', last] : ['first', first ?? DEFAULT_PAGE_SIZE];
  if (count < 1 || count > MAX_PAGE_SIZE) faults.push({ field, message: `must be 1 to ${String(MAX_PAGE_SIZE)}` });
  return count;
}

function readCursor(
  field: string,
  cursor: string | null | undefined,
  { order, faults }: { order: readonly SortKey[]; faults: FieldFault[] },
): Position | undefined {
  if (cursor == null) return undefined;
  const position = decodeCursor(cursor, order);
  if (!position) faults.push({ field, message: 'is not a cursor of this list in this order' });
  return position;
}

function decodeCursor(cursor: string, order: readonly SortKey[]): Position | undefined {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(decoded)) return undefined;
  const [signature, ...values] = decoded as unknown[];
  if (signature !== signatureOf(order) || values.length !== order.length) return undefined;
  return order.every((key, i) => fits(values[i], key)) ? (values as Position) : undefined;
}

function fits(value: unknown, { type, values, nullable }: SortKey): boolean {
  if (value === null) return nullable === true;
  if (values) return typeof value === 'string' && values.includes(value);
  switch (type) {
    case 'int4':
      return Number.isInteger(value) && Math.abs(value as number) <= 2 ** 31 - 1;
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamptz':
      return isMoment(value);
    default:
      return typeof value === 'string' && !value.includes('\0');
  }
}

function isMoment(value: unknown): boolean {
  try {
    return Boolean(readDateTime(value));
  } catch {
    return false;
  }
}

function toPositionValue(value: unknown): Position[number] {
  if (value instanceof Date) return value.toISOString();
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw fail('INTERNAL_ERROR', 'A sort key is missing from the row');
}

function signatureOf(order: readonly SortKey[]): string {
  return order.map(({ column, descending }) => `${column}${descending ? '-' : '+'}`).join('');
}
