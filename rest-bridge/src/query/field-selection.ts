/** Parses `fields` and `include` against what a resource has (spec §4.3). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Parameters } from './parameters.ts';

/** The fields and related resources that a client requests; `fields` undefined means the default fields. */
export interface FieldSelection {
  readonly fields: readonly string[] | undefined;
  readonly include: readonly string[];
}

/** Objects whose keys are the names that `fields` and `include` may hold. */
export interface SelectableNames {
  readonly fields: object;
  readonly include: object;
}

const NO_NAMES: readonly string[] = [];

/** Parses `fields` and `include`. Adds one fault for each parameter that holds unknown names. */
export function parseFieldSelection(query: Parameters, known: SelectableNames, faults: FieldFault[]): FieldSelection {
  const parse = (parameter: 'fields' | 'include') => {
    const names = query.takeList(parameter);
    if (names === undefined) return undefined;
    const knownNames = Object.keys(known[parameter]);
    const distinct = [...new Set(names)];
    const unknown = distinct.filter((name) => !knownNames.includes(name)).length;
    if (unknown > 0) faults.push({ field: parameter, message: toUnknownNames(unknown, knownNames) });
    return distinct.filter((name) => knownNames.includes(name)).sort();
  };
  return { fields: parse('fields'), include: parse('include') ?? NO_NAMES };
}

/** Returns the message for a list with `count` unknown names. It lists the known names instead of echoing what the client sent. */
export function toUnknownNames(count: number, known: readonly string[]): string {
  const names = known.length > 0 ? `known names are ${known.join(', ')}` : 'the resource supports none';
  return `contains ${String(count)} unknown name${count > 1 ? 's' : ''}; ${names}`;
}
