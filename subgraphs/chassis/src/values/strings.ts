/** Checks strings of clients before they reach a database. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

/** The length that a string must have. */
export interface StringRule {
  /** The name of the field in faults. */
  readonly field: string;
  /** Smallest length in characters; from 1 on the string must not be blank or null either. */
  readonly min: number;
  /** Largest length in characters (code points, as PostgreSQL counts). */
  readonly max: number;
}

/** Returns the faults of a string: its length, and characters that PostgreSQL does not store. */
export function checkString(value: string | null, { field, min, max }: StringRule): FieldFault[] {
  if (value === null) return min > 0 ? [{ field, message: 'must not be null' }] : [];
  // A character has at most two code units, so a string that is far too long need not be counted.
  const length = value.length > 2 * max ? value.length : Array.from(value).length;
  if (length < min || length > max) return [{ field, message: `must have ${String(min)} to ${String(max)} characters` }];
  if (value.includes('\0') || !value.isWellFormed()) return [{ field, message: 'must not contain U+0000 or lone surrogates' }];
  return min > 0 && value.trim() === '' ? [{ field, message: 'must not be blank' }] : [];
}
