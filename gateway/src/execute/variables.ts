/** Checks the variables of a request against their definitions (GraphQL §6.1.2). Subgraphs get them as sent, and coerce them. */
import type { FieldFault } from '@trestle/schema/errors';
import { LocatedFault } from '../program/located-fault.ts';
import type { InputType, VariableProgram } from '../program/program.ts';

const MAX_FAULTS = 50;

/** VALIDATION_ERROR for one variable or several; the message is that of graphql-js for the first one, without values. */
export class VariableFault extends LocatedFault {
  constructor(faults: readonly VariableProblem[]) {
    const [first] = faults;
    const rest = faults.length - 1;
    const others = rest > 0 ? ` (${String(rest)} more in details)` : '';
    super('VALIDATION_ERROR', `${first?.text ?? ''}${others}`, {
      details: faults.slice(0, MAX_FAULTS).map(({ field, message }) => ({ field, message })),
      locations: faults.map(({ variable }) => variable.location),
    });
  }
}

interface VariableProblem extends FieldFault {
  readonly variable: VariableProgram;
  /** The message of graphql-js. */
  readonly text: string;
}

/**
 * Returns the variables with the operation's defaults, for conditions and costs. Throws VariableFault that names every invalid variable. A variable
 * of a condition must not be null, even when its type has a default and is nullable (GraphQL §6.4.1).
 */
export function readVariables(
  declared: readonly VariableProgram[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (declared.length === 0) return NONE;
  const faults: VariableProblem[] = [];
  // Without a prototype: `__proto__` is a name like any other.
  const values = Object.create(null) as Record<string, unknown>;
  for (const variable of declared) {
    const { name, type, hasDefault, default: fallback, isCondition } = variable;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value !== undefined) {
      checkVariable(value, variable, faults);
      values[name] = value;
    } else if (hasDefault) values[name] = fallback;
    else if (type.kind === 'nonNull') {
      const text = `Variable "$${name}" of required type "${print(type)}" was not provided.`;
      faults.push({ variable, field: `variables.${name}`, message: `is required: ${print(type)}`, text });
    }
    if (isCondition && values[name] === null && type.kind !== 'nonNull') {
      const text = `Argument "if" of non-null type "Boolean!" must not be null: variable "$${name}" is null.`;
      faults.push({ variable, field: `variables.${name}`, message: 'must not be null where it is a condition', text });
    }
  }
  if (faults.length > 0) throw new VariableFault(faults);
  return addAliases(declared, values);
}

/** Adds the variables that have another name in fetches. Returns the same object when there are none. */
export function addAliases(
  declared: readonly VariableProgram[],
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!declared.some(({ alias }) => alias !== undefined)) return values;
  const all = Object.assign(Object.create(null) as Record<string, unknown>, values);
  for (const { name, alias } of declared) if (alias !== undefined && Object.hasOwn(values, name)) all[alias] = values[name];
  return all;
}

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

function checkVariable(value: unknown, variable: VariableProgram, faults: VariableProblem[]): void {
  const { name, type } = variable;
  const field = `variables.${name}`;
  if (value === null && type.kind === 'nonNull') {
    const text = `Variable "$${name}" of non-null type "${print(type)}" must not be null.`;
    faults.push({ variable, field, message: `must not be null: ${print(type)}`, text });
    return;
  }
  const report = ({ path, invalid, message, reason }: Problem) => {
    if (faults.length > MAX_FAULTS) return;
    const text = `Variable "$${name}" got invalid value ${show(invalid)}${path === '' ? '' : ` at "${name}${path}"`}; ${reason}`;
    faults.push({ variable, field: `${field}${path}`, message, text });
  };
  check(value, { type, path: '', report });
}

interface Problem {
  /** After the variable's name: `.tags[1]`. */
  readonly path: string;
  readonly invalid: unknown;
  readonly message: string;
  /** The same as graphql-js says it. */
  readonly reason: string;
}

interface Place {
  readonly type: InputType;
  readonly path: string;
  readonly report: (problem: Problem) => void;
}

function check(value: unknown, { type, path, report }: Place): void {
  if (type.kind === 'nonNull') {
    const reason = `Expected non-nullable type "${print(type)}" not to be null.`;
    if (value === null || value === undefined) report({ path, invalid: value, message: `must not be null: ${print(type)}`, reason });
    else check(value, { type: type.of, path, report });
    return;
  }
  if (value === null || value === undefined) return;
  switch (type.kind) {
    case 'list':
      // A single value stands for a list of one (GraphQL §3.12).
      if (Array.isArray(value))
        value.forEach((item: unknown, i) => {
          check(item, { type: type.of, path: `${path}[${String(i)}]`, report });
        });
      else check(value, { type: type.of, path, report });
      return;
    case 'enum':
      if (typeof value !== 'string' || !type.values.includes(value)) {
        const reason =
          typeof value === 'string'
            ? `Value ${show(value)} does not exist in "${type.name}" enum.`
            : `Enum "${type.name}" cannot represent non-string value: ${show(value)}.`;
        report({ path, invalid: value, message: `must be one of ${type.values.join(', ')}`, reason });
      }
      return;
    case 'scalar':
      if (type.name === 'ID' && Number.isInteger(value) && !Number.isSafeInteger(value))
        report({
          path,
          invalid: value,
          message: 'must be a string: a number beyond 2^53 is not exact',
          reason: `ID cannot represent a number beyond 2^53 exactly: ${show(value)}. Send a string.`,
        });
      else if (!isScalar(type.name, value))
        report({
          path,
          invalid: value,
          message: `must be of type ${type.name}`,
          reason: `${type.name} cannot represent ${NOT_A[type.name] ?? 'value'}: ${show(value)}`,
        });
      return;
    case 'object':
      checkObject(value, { type, path, report });
  }
}

/** How graphql-js describes a value that a scalar does not accept. */
const NOT_A: Readonly<Record<string, string>> = {
  Int: 'non-integer value',
  Float: 'non numeric value',
  String: 'a non string value',
  Boolean: 'a non boolean value',
};

function checkObject(value: unknown, { type, path, report }: Place & { readonly type: InputType & { kind: 'object' } }): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const reason = `Expected type "${type.name}" to be an object.`;
    report({ path, invalid: value, message: `must be an object of type ${type.name}`, reason });
    return;
  }
  const object = value as Record<string, unknown>;
  for (const each of type.fields) {
    const given = Object.hasOwn(object, each.name) ? object[each.name] : undefined;
    if (given !== undefined) check(given, { type: each.type, path: `${path}.${each.name}`, report });
    else if (each.type.kind === 'nonNull' && !each.hasDefault) {
      const reason = `Field "${each.name}" of required type "${print(each.type)}" was not provided.`;
      report({ path: `${path}.${each.name}`, invalid: value, message: `is required: ${print(each.type)}`, reason });
    }
  }
  for (const name of Object.keys(object))
    if (!type.fields.some((each) => each.name === name)) {
      const reason = `Field "${name}" is not defined by type "${type.name}".`;
      report({ path: `${path}.${name}`, invalid: value, message: `is not a field of ${type.name}`, reason });
    }
  if (type.isOneOf) {
    const [key = '', ...others] = Object.keys(object);
    const reason =
      key === '' || others.length > 0
        ? `Exactly one key must be specified for OneOf type "${type.name}".`
        : object[key] === null
          ? `Field "${key}" must be non-null.`
          : undefined;
    if (reason !== undefined) report({ path, invalid: value, message: `must have exactly one field that is not null`, reason });
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
      // Another number than the client sent would name another object.
      return typeof value === 'string' || Number.isSafeInteger(value);
    default:
      // Subgraphs check their custom scalars.
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

/** Replaces a value in a message, because the value may be a secret and clients store errors. */
const HIDDEN = '…';

/** Returns a value for a message, unless it may be a secret. */
function show(value: unknown): string {
  return value === null || typeof value === 'boolean' ? String(value) : HIDDEN;
}
