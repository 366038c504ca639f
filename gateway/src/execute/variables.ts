/** Checks a request's variables against what its operation declares (GraphQL §6.1.2). Their own JSON goes on to the subgraphs, which coerce it. */
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import type { InputType, VariableProgram } from './program.ts';

const MAX_FAULTS = 50;

/** Gives the variables with the operation's defaults, for conditions and costs. Throws VALIDATION_ERROR that names every fault. */
export function readVariables(
  declared: readonly VariableProgram[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (declared.length === 0) return NONE;
  const faults: FieldFault[] = [];
  const values: Record<string, unknown> = {};
  for (const { name, type, hasDefault, default: fallback } of declared) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (hasDefault) values[name] = fallback;
      else if (type.kind === 'nonNull') faults.push({ field: `variables.${name}`, message: `is required: ${print(type)}` });
      continue;
    }
    check(value, { type, field: `variables.${name}`, faults });
    values[name] = value;
  }
  if (faults.length > 0) rejectFaults(faults.slice(0, MAX_FAULTS));
  return values;
}

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

interface Place {
  readonly type: InputType;
  readonly field: string;
  readonly faults: FieldFault[];
}

function check(value: unknown, { type, field, faults }: Place): void {
  if (faults.length > MAX_FAULTS) return;
  const refuse = (message: string) => {
    faults.push({ field, message });
  };
  if (type.kind === 'nonNull') {
    if (value === null || value === undefined) refuse(`must not be null: ${print(type)}`);
    else check(value, { type: type.of, field, faults });
    return;
  }
  if (value === null || value === undefined) return;
  switch (type.kind) {
    case 'list':
      // A single value stands for a list of one (GraphQL §3.12).
      if (Array.isArray(value))
        value.forEach((item: unknown, i) => {
          check(item, { type: type.of, field: `${field}[${String(i)}]`, faults });
        });
      else check(value, { type: type.of, field, faults });
      return;
    case 'enum':
      if (typeof value !== 'string' || !type.values.includes(value)) refuse(`must be one of ${type.values.join(', ')}`);
      return;
    case 'scalar':
      if (!isScalar(type.name, value)) refuse(`must be of type ${type.name}`);
      return;
    case 'object':
      checkObject(value, { type, field, faults });
  }
}

function checkObject(value: unknown, { type, field, faults }: Place & { readonly type: InputType & { kind: 'object' } }): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push({ field, message: `must be an object of type ${type.name}` });
    return;
  }
  const object = value as Record<string, unknown>;
  for (const each of type.fields) {
    const given = Object.hasOwn(object, each.name) ? object[each.name] : undefined;
    if (given === undefined) {
      if (each.type.kind === 'nonNull' && !each.hasDefault)
        faults.push({ field: `${field}.${each.name}`, message: `is required: ${print(each.type)}` });
    } else check(given, { type: each.type, field: `${field}.${each.name}`, faults });
  }
  for (const name of Object.keys(object))
    if (!type.fields.some((each) => each.name === name))
      faults.push({ field: `${field}.${name}`, message: `is not a field of ${type.name}` });
  if (type.isOneOf) {
    const keys = Object.keys(object);
    if (keys.length !== 1 || object[keys[0] ?? ''] === null)
      faults.push({ field, message: `must have exactly one field that is not null` });
  }
}

function isScalar(name: string, value: unknown): boolean {
  switch (name) {
    case 'Int':
      return typeof value === 'number' && (value | 0) === value;
    case 'Float':
      return typeof value === 'number' && Number.isFinite(value);
    case 'String':
      return typeof value === 'string';
    case 'Boolean':
      return typeof value === 'boolean';
    case 'ID':
      return typeof value === 'string' || Number.isInteger(value);
    default:
      // A custom scalar is checked by the subgraph that knows it.
      return true;
  }
}

function print(type: InputType): string {
  switch (type.kind) {
    case 'nonNull':
      return `${print(type.of)}!`;
    case 'list':
      return `[${print(type.of)}]`;
    default:
      return type.name;
  }
}
