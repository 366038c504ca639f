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
  const length = Array.from(value).length;
  if (length < min || length > max) return [{ field, message: `must have ${String(min)} to ${String(max)} characters` }];
  if (value.includes('\0') || !value.isWellFormed()) return [{ field, message: 'has characters that are not allowed' }];
  return min > 0 && value.trim() === '' ? [{ field, message: 'must not be blank' }] : [];
}
