/** Finds the order in which the fields of an object are written (GraphQL §6.3.2), and the code for the conditions of a field. */
import { read } from './literals.ts';
import type { CollectedField, Condition } from './selection.ts';

/** A position in the response where a field may be written. */
export interface FieldPosition {
  readonly field: CollectedField;
  readonly when: readonly (readonly Condition[])[];
  /** For a field with several positions: the variable that is true until the field is written. */
  readonly flag: string | undefined;
  readonly isFirst: boolean;
}

/**
 * Returns the positions of fields in the order of the response. A field is at its first selection that is not skipped (GraphQL §6.3.2), so a field
 * whose first selection may be skipped has several positions.
 */
export function inOrder(fields: readonly CollectedField[]): FieldPosition[] {
  const all = fields.flatMap((field, n): { place: number; position: FieldPosition }[] => {
    const always = field.when.findIndex((conditions) => conditions.length === 0);
    const places = field.places.slice(0, always < 0 ? undefined : always + 1);
    // One position is enough when no other field is between the positions of a field.
    const [start = 0, end = start] = [places[0], places.at(-1)];
    const isBetween = (place: number) => place > start && place < end;
    if (start === end || !fields.some((other) => other !== field && other.places.some(isBetween)))
      return [{ place: start, position: { field, when: field.when, flag: undefined, isFirst: true } }];
    const flag = `f${String(n)}`;
    return places.map((place, i) => ({
      place,
      position: { field, when: [field.when[i] ?? []], flag, isFirst: i === 0 },
    }));
  });
  return all.sort((a, b) => a.place - b.place).map(({ position }) => position);
}

/** Whether one of the selections has no conditions. */
export function isAlways(when: readonly (readonly Condition[])[]): boolean {
  return when.some((all) => all.length === 0);
}

/** Returns a boolean expression over `vars`; empty for always. */
export function conditionOf(when: readonly (readonly Condition[])[]): string {
  if (isAlways(when)) return '';
  return when.map((all) => all.map(({ variable, isTrue }) => `${isTrue ? '' : '!'}${read('vars', variable)}`).join('&&')).join('||');
}
