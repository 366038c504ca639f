/** Checks the fields that need exactly one slicing argument (`@listSize(requireOneSlicingArgument:)`), with the variables of a request. No I/O. */
import { LocatedFault } from '../program/located-fault.ts';
import type { SlicedField, SlicingVariable } from '../program/program.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Throws VALIDATION_ERROR for the first field that has no slicing argument, or several. `variables` are those with the operation's defaults. */
export function requireOneSlicingArgument(fields: readonly SlicedField[], variables: Variables): void {
  for (const field of fields) {
    if (!field.when.every(({ variable, isTrue }) => variables[variable] === isTrue)) continue;
    const set = [...field.literals, ...field.variables.filter((each) => hasValue(each, variables)).map(({ name }) => name)];
    if (set.length === 1 || (set.length === 0 && field.hasDefault)) continue;
    throw new LocatedFault('VALIDATION_ERROR', toMessage(field, set), { locations: [field.location] });
  }
}

function hasValue({ variable, path }: SlicingVariable, variables: Variables): boolean {
  const value = path.reduce<unknown>((object, name) => (object as Variables | null | undefined)?.[name], variables[variable]);
  return value !== undefined && value !== null;
}

function toMessage({ field, names }: SlicedField, set: readonly string[]): string {
  const all = names.map((name) => `\`${name}\``).join(', ');
  const found = set.length === 0 ? 'none is set' : `${String(set.length)} are set: ${set.map((name) => `\`${name}\``).join(', ')}`;
  return names.length === 1
    ? `Field \`${field}\` requires the argument ${all}, by which its size is known; it is not set.`
    : `Field \`${field}\` requires exactly one of the arguments ${all}; ${found}.`;
}
