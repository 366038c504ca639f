/** Parses query parameters that are integers. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Parameters } from './parameters.ts';

/** An integer parameter: its name, its bounds (inclusive), and its value when the request does not have it. */
export interface IntegerRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

/** Returns the value of the parameter. Adds a fault for a value that is not an integer within the bounds, and returns the fallback. */
export function parseInteger(query: Parameters, { name, min, max, fallback }: IntegerRule, faults: FieldFault[]): number {
  const text = query.take(name);
  if (text === undefined) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  faults.push({ field: name, message: `must be an integer from ${String(min)} to ${String(max)}` });
  return fallback;
}
