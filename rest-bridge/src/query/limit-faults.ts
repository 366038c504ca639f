/**
 * Finds values beyond their limits in a request that is refused anyway, so that one response names them too (spec §7.2). Subgraphs check the
 * limits of all other requests, after 403, 404 and 412. No I/O.
 */
import type { FieldFault } from '@trestle/schema/errors';
import { type InputField, type Limits, limitsOf } from './limits.ts';

/** Returns a fault for each value beyond its limits; values are those of the right type, by the names of their fields. */
export type FindLimitFaults = (values: Readonly<Record<string, unknown>>) => FieldFault[];

/** Creates the check of the fields of an input, or of the arguments of a mutation. */
export function createLimitCheck(fields: readonly InputField[]): FindLimitFaults {
  const limits = new Map(fields.map((field) => [field.name, limitsOf(field)]));
  return (values) =>
    Object.entries(values).flatMap(([field, value]) => {
      const message = faultOf(value, limits.get(field) ?? {});
      return message === undefined ? [] : [{ field, message }];
    });
}

function faultOf(value: unknown, limits: Limits): string | undefined {
  if (typeof value === 'string') return lengthFaultOf(value, limits);
  if (typeof value === 'number') return numberFaultOf(value, limits);
  return Array.isArray(value) ? itemsFaultOf(value, limits) : undefined;
}

/** Counts characters as the subgraphs do, in code points. */
function lengthFaultOf(text: string, { minLength: min = 0, maxLength: max = Infinity }: Limits): string | undefined {
  // A character has at most two code units, so a string that is far too long need not be counted.
  const length = text.length > 2 * max ? text.length : Array.from(text).length;
  if (length < min || length > max) return `must have ${min === max ? '' : `${String(min)} to `}${String(max)} characters`;
  return min > 0 && text.trim() === '' ? 'must not be blank' : undefined;
}

function numberFaultOf(number: number, { minimum: min = -Infinity, maximum: max = Infinity }: Limits): string | undefined {
  if (number >= min && number <= max) return undefined;
  return max === Infinity ? `must be at least ${String(min)}` : `must be ${String(min)} to ${String(max)}`;
}

function itemsFaultOf(
  items: readonly unknown[],
  { minItems: min = 0, maxItems: max = Infinity, items: limits }: Limits,
): string | undefined {
  if (min > 0 && (items.length < min || items.length > max)) return `must have ${String(min)} to ${String(max)} items`;
  if (items.length > max) return `must have at most ${String(max)} items, not ${String(items.length)}`;
  for (const item of limits ? items : []) {
    const fault = faultOf(item, limits ?? {});
    if (fault !== undefined) return `item ${fault}`;
  }
  return undefined;
}
