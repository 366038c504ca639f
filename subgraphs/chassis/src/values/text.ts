/** Checks text that a person wrote before it goes anywhere near a database. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

export interface TextRule {
  readonly field: string;
  readonly min: number;
  /** Largest length in characters (code points, as PostgreSQL counts). */
  readonly max: number;
}

/** Says what is wrong with a text; `null` counts as missing where at least one character is needed. */
export function checkText(value: string | null, { field, min, max }: TextRule): FieldFault[] {
  if (value === null) return min > 0 ? [{ field, message: 'must not be null' }] : [];
  // A character has at most two code units: what is far too long need not be counted.
  const length = value.length > 2 * max ? value.length : Array.from(value).length;
  if (length < min || length > max) return [{ field, message: `must have ${String(min)} to ${String(max)} characters` }];
  if (value.includes('\0') || !value.isWellFormed()) return [{ field, message: 'must not contain U+0000 or lone surrogates' }];
  return min > 0 && value.trim() === '' ? [{ field, message: 'must not be blank' }] : [];
}
