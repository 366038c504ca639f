/**
 * Checks every string and list in the arguments of fields before their resolvers are called: lengths by the table of
 * `@trestle/schema/lengths`, and characters that PostgreSQL does not store (U+0000, lone surrogates).
 */
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import { LIST_LENGTH, lengthAt } from '@trestle/schema/lengths';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  defaultFieldResolver,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { checkString } from '../values/strings.ts';

/** Returns the faults of a value; `path` is its dotted path. */
type Check = (value: unknown, path: string) => FieldFault[];

/** Wraps the resolver of every field that takes a string, an id or a list. The field then throws VALIDATION_ERROR with every fault. */
export function applyArgumentChecks(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const isMutation = type === schema.getMutationType();
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, unknown>[]) {
      if (field.name.startsWith('_')) continue;
      const checks = field.args.flatMap((argument) => {
        const check = toCheck(argument, { coordinate: `${type.name}.${field.name}(${argument.name}:)`, isMutation, parents: [] });
        return check ? [{ name: argument.name, check }] : [];
      });
      if (checks.length > 0) guard(field, (args) => checks.flatMap(({ name, check }) => check(args[name], pathOf(name, isMutation))));
    }
  }
}

/** Errors name the fields of a mutation's input as REST clients know them, without `input.` in front. */
function pathOf(name: string, isMutation: boolean): string {
  return isMutation && name === 'input' ? '' : name;
}

function guard(field: GraphQLField<unknown, unknown>, check: (args: Readonly<Record<string, unknown>>) => FieldFault[]): void {
  const { resolve = defaultFieldResolver, subscribe } = field;
  if (subscribe) {
    field.subscribe = (source, args: Record<string, unknown>, context, info) => {
      rejectFaults(check(args));
      return subscribe(source, args, context, info);
    };
    return;
  }
  field.resolve = (source, args: Record<string, unknown>, context, info) => {
    rejectFaults(check(args));
    return resolve(source, args, context, info);
  };
}

interface Place {
  readonly coordinate: string;
  /** Strings in the input of a mutation are left to the rules of the domain, which come after NOT_FOUND and FORBIDDEN. */
  readonly isMutation: boolean;
  /** The input types around this one, so that a recursive type ends. */
  readonly parents: readonly string[];
}

/** Returns undefined where there is nothing to check. */
function toCheck({ name, type }: GraphQLArgument | GraphQLInputField, place: Place): Check | undefined {
  const check = toTypeCheck(name, type, place);
  return check && ((value, path) => (value === null || value === undefined ? [] : check(value, path)));
}

function toTypeCheck(name: string, type: GraphQLInputType, place: Place): Check | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const checkItem = toTypeCheck(name, nullable.ofType, place);
    return (value, path) => checkList(value as readonly unknown[], path, checkItem);
  }
  if (isScalarType(nullable)) {
    if (nullable.name !== 'ID' && (nullable.name !== 'String' || (place.isMutation && place.parents.length > 0))) return undefined;
    const { max } = lengthAt({ coordinate: place.coordinate, name, type: nullable.name });
    // Resolvers refuse empty strings themselves, with messages of their own.
    return (value, path) => checkString(value as string, { field: path, min: 0, max });
  }
  if (!isInputObjectType(nullable) || place.parents.includes(nullable.name)) return undefined;
  const fields = Object.values(nullable.getFields()).flatMap((field) => {
    const inner = { ...place, coordinate: `${nullable.name}.${field.name}`, parents: [...place.parents, nullable.name] };
    const check = toCheck(field, inner);
    return check ? [{ name: field.name, check }] : [];
  });
  if (fields.length === 0) return undefined;
  return (value, path) =>
    fields.flatMap((field) =>
      field.check((value as Record<string, unknown>)[field.name], path === '' ? field.name : `${path}.${field.name}`),
    );
}

function checkList(items: readonly unknown[], path: string, checkItem: Check | undefined): FieldFault[] {
  if (items.length > LIST_LENGTH.max)
    return [{ field: path, message: `must have at most ${String(LIST_LENGTH.max)} items, not ${String(items.length)}` }];
  return checkItem ? items.flatMap((item, i) => (item === null ? [] : checkItem(item, `${path}.${String(i)}`))) : [];
}
