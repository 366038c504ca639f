/**
 * Checks every string and list in the arguments of fields before their resolvers see them: lengths by the table of `@trestle/schema/lengths`,
 * and characters that PostgreSQL does not store (U+0000, lone surrogates).
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
import { checkText } from '../values/text.ts';

/** Says what is wrong with a value; `place` is its dotted path. */
type Check = (value: unknown, place: string) => FieldFault[];

/** Wraps the resolver of every field that takes a string, an id or a list. The field then throws VALIDATION_ERROR that lists every faulty one. */
export function applyArgumentChecks(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const isMutation = type === schema.getMutationType();
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, unknown>[]) {
      if (field.name.startsWith('_')) continue;
      const checks = field.args.flatMap((argument) => {
        const check = toCheck(argument, { coordinate: `${type.name}.${field.name}(${argument.name}:)`, isMutation, above: [] });
        return check ? [{ name: argument.name, check }] : [];
      });
      if (checks.length > 0) guard(field, (args) => checks.flatMap(({ name, check }) => check(args[name], placeOf(name, isMutation))));
    }
  }
}

/** Errors name the fields of a mutation's input as REST clients know them, without `input.` before each. */
function placeOf(name: string, isMutation: boolean): string {
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

interface Where {
  readonly coordinate: string;
  /** Texts in the input of a mutation are left to the rules of the domain, which come after NOT_FOUND and FORBIDDEN. */
  readonly isMutation: boolean;
  /** The inputs that this one stands in, so that one within itself comes to an end. */
  readonly above: readonly string[];
}

/** Undefined where there is nothing to check. */
function toCheck({ name, type }: GraphQLArgument | GraphQLInputField, where: Where): Check | undefined {
  const check = toTypeCheck(name, type, where);
  return check && ((value, place) => (value === null || value === undefined ? [] : check(value, place)));
}

function toTypeCheck(name: string, type: GraphQLInputType, where: Where): Check | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const checkItem = toTypeCheck(name, nullable.ofType, where);
    return (value, place) => checkList(value as readonly unknown[], place, checkItem);
  }
  if (isScalarType(nullable)) {
    if (nullable.name !== 'ID' && (nullable.name !== 'String' || (where.isMutation && where.above.length > 0))) return undefined;
    const length = lengthAt({ coordinate: where.coordinate, name, type: nullable.name });
    // Nothing may be empty here that the resolver itself refuses with words of its own.
    return (value, place) => checkText(value as string, { field: place, min: 0, max: length.max });
  }
  if (!isInputObjectType(nullable) || where.above.includes(nullable.name)) return undefined;
  const fields = Object.values(nullable.getFields()).flatMap((field) => {
    const inner = { ...where, coordinate: `${nullable.name}.${field.name}`, above: [...where.above, nullable.name] };
    const check = toCheck(field, inner);
    return check ? [{ name: field.name, check }] : [];
  });
  if (fields.length === 0) return undefined;
  return (value, place) =>
    fields.flatMap((field) =>
      field.check((value as Record<string, unknown>)[field.name], place === '' ? field.name : `${place}.${field.name}`),
    );
}

function checkList(items: readonly unknown[], place: string, checkItem: Check | undefined): FieldFault[] {
  if (items.length > LIST_LENGTH.max)
    return [{ field: place, message: `must have at most ${String(LIST_LENGTH.max)} items, not ${String(items.length)}` }];
  return checkItem ? items.flatMap((item, i) => (item === null ? [] : checkItem(item, `${place}.${String(i)}`))) : [];
}
