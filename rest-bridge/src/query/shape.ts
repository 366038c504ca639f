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
  const text = query.take(parameter);
  if (text === undefined) return undefined;
  const names = [...new Set(text.split(','))];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const offer = known.length > 0 ? `known are ${known.join(', ')}` : 'there is nothing to name here';
    faults.push({ field: parameter, message: `has ${String(unknown.length)} unknown name${unknown.length > 1 ? 's' : ''}; ${offer}` });
  }
  return names.filter((name) => known.includes(name)).sort();
}
