/** Estimates the length of lists: by `@listSize`, else by the arguments that usually slice a list, also in input objects. */
import {
  type ArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type ValueNode,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { OWN, quote, read } from './literals.ts';

/** The assumed length of a list when neither the schema nor the operation gives one. */
export const ASSUMED_LIST_SIZE = 10;
/** Arguments, and fields of their input objects, that bound a list where the schema has no `@listSize`. */
const BOUNDS = ['first', 'last', 'limit', 'perPage', 'pageSize'];

/** The size that a variable gives; `d` where its value is null or negative. */
export const SIZE = `${OWN}const size=(v,d)=>typeof v==="number"&&v>=0?v:d;`;

/** An argument (`limit`), or a field of an argument's input object (`page.limit`). */
export interface Bound {
  readonly path: string;
  readonly fallback: number | undefined;
}

/** Returns the arguments by which a field is sliced, with their defaults: those of `@listSize`, or those with the usual names. */
export function boundsOf(
  schema: GraphQLSchema,
  { type: name, field, listSize }: { readonly type: string; readonly field: string; readonly listSize: ConstDirectiveNode | undefined },
): Bound[] {
  const type = schema.getType(name);
  const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[field] : undefined;
  if (!definition) return [];
  if (listSize)
    return readStrings(listSize, 'slicingArguments').map((path) => {
      const value = defaultOf(definition, path);
      return { path, fallback: typeof value === 'number' ? value : undefined };
    });
  return definition.args.flatMap((argument) => [...toBound(argument, ''), ...withinInput(argument)]);
}

function toBound({ name, defaultValue }: Pick<GraphQLArgument, 'name' | 'defaultValue'>, prefix: string): Bound[] {
  if (!BOUNDS.includes(name)) return [];
  return [{ path: `${prefix}${name}`, fallback: typeof defaultValue === 'number' ? defaultValue : undefined }];
}

function withinInput({ name, type }: GraphQLArgument): Bound[] {
  const input = getNullableType(type);
  return isInputObjectType(input) ? Object.values(input.getFields()).flatMap((field) => toBound(field, `${name}.`)) : [];
}

/**
 * Returns an expression over `vars` for the largest of the slicing arguments that are given, else for the largest of their defaults, else for the
 * size that the schema assumes; undefined when the schema gives none.
 */
export function sizeOf(
  listSize: ConstDirectiveNode | undefined,
  given: readonly ArgumentNode[],
  bounds: readonly Bound[],
): string | undefined {
  const sizes = bounds.flatMap(({ path }) => {
    const [name = '', ...inner] = path.split('.');
    return readSize(given.find((argument) => argument.name.value === name)?.value, inner) ?? [];
  });
  const unset = toUnsetSize(listSize, bounds);
  if (sizes.length === 0) return unset;
  const fixed = sizes.map(Number).filter((size) => !Number.isNaN(size));
  const open = sizes.filter((size) => Number.isNaN(Number(size)));
  if (open.length === 0) return String(Math.max(...fixed));
  if (sizes.length === 1) return `size(${open.join('')},${String(unset)})`;
  const largest = `Math.max(${[...fixed.map(String), ...open.map((size) => `size(${size},-1)`)].join(',')})`;
  return fixed.length > 0 ? largest : `size(${largest},${String(unset)})`;
}

/** Returns the size of a list when no slicing argument is set; undefined when the schema gives none. */
function toUnsetSize(listSize: ConstDirectiveNode | undefined, bounds: readonly Bound[]): string | undefined {
  const fallbacks = bounds.flatMap(({ fallback }) => (fallback === undefined ? [] : [fallback]));
  if (fallbacks.length > 0) return String(Math.max(...fallbacks));
  const assumed = readNumber(listSize, 'assumedSize');
  if (assumed !== undefined) return String(assumed);
  return listSize || bounds.length > 0 ? String(ASSUMED_LIST_SIZE) : undefined;
}

/** Returns the number at a path of input fields, or an expression for that of a variable; undefined for null and for negative numbers. */
function readSize(value: ValueNode | undefined, path: readonly string[]): string | undefined {
  if (value?.kind === Kind.VARIABLE)
    return path.reduce((object, name) => `(${object}??{})[${quote(name)}]`, read('vars', value.name.value));
  const [name, ...rest] = path;
  if (name === undefined) return value?.kind === Kind.INT && Number(value.value) >= 0 ? String(Number(value.value)) : undefined;
  return value?.kind === Kind.OBJECT ? readSize(value.fields.find((field) => field.name.value === name)?.value, rest) : undefined;
}

/** Returns the default of an argument (`limit`), or of a field of an argument's input object (`page.limit`). */
export function defaultOf({ args }: GraphQLField<unknown, unknown>, path: string): unknown {
  const [name, ...inner] = path.split('.');
  const argument = args.find((each) => each.name === name);
  let type = argument && getNamedType(argument.type);
  let value: unknown = argument?.defaultValue;
  for (const key of inner) {
    const field = isInputObjectType(type) ? type.getFields()[key] : undefined;
    value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key] ?? field?.defaultValue;
    type = field && getNamedType(field.type);
  }
  return value ?? undefined;
}

/** Returns `@listSize`, by its own name or with the namespace of `@link`. */
export function findListSize(directives: readonly ConstDirectiveNode[]): ConstDirectiveNode | undefined {
  return directives.find(({ name: { value } }) => value === 'listSize' || value.endsWith('__listSize'));
}

function readNumber(directive: ConstDirectiveNode | undefined, name: string): number | undefined {
  const value = argumentOf(directive, name);
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}

export function readStrings(directive: ConstDirectiveNode | undefined, name: string): string[] {
  const value = argumentOf(directive, name);
  return value?.kind === Kind.LIST ? value.values.flatMap((each) => (each.kind === Kind.STRING ? [each.value] : [])) : [];
}

export function argumentOf(directive: ConstDirectiveNode | undefined, name: string): ConstValueNode | undefined {
  return directive?.arguments?.find((argument) => argument.name.value === name)?.value;
}
