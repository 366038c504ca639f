/** Reads `fields` and `include` against what a resource has (spec §4.3). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Resource } from '../reply/resource.ts';
import type { Parameters } from './parameters.ts';

/** What of a resource a client wants to see; `fields` undefined means its usual ones. */
export interface Shape {
  readonly fields: readonly string[] | undefined;
  readonly include: readonly string[];
}

export function readShape(query: Parameters, resource: Resource, faults: FieldFault[]): Shape {
  const fields = readNames('fields', query, { known: Object.keys(resource.fields), faults });
  const include = readNames('include', query, { known: Object.keys(resource.include), faults });
  return { fields, include: include ?? [] };
}

function readNames(
  parameter: string,
  query: Parameters,
  { known, faults }: { known: readonly string[]; faults: FieldFault[] },
): string[] | undefined {
  const names = query.takeList(parameter);
  if (names === undefined) return undefined;
  const distinct = [...new Set(names)];
  const unknown = distinct.filter((name) => !known.includes(name)).length;
  if (unknown > 0) faults.push({ field: parameter, message: toUnknownNames(unknown, known) });
  return distinct.filter((name) => known.includes(name)).sort();
}

/** Says how many names of a list are unknown, and which there are. */
export function toUnknownNames(count: number, known: readonly string[]): string {
  const offer = known.length > 0 ? `known are ${known.join(', ')}` : 'there is nothing to name here';
  return `has ${String(count)} unknown name${count > 1 ? 's' : ''}; ${offer}`;
}
