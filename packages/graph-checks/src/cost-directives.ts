/** Reads what a schema says about the cost of operations: `@cost` and `@listSize` (IBM cost specification). Gateways read it by this file too. */
import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/** The assumed length of a list when neither the schema nor the operation gives one. */
export const ASSUMED_LIST_SIZE = 10;
/** What a mutation costs beside its fields. */
const MUTATION_COST = 10;
/** Arguments, and fields of their input objects, that bound a list where the schema has no `@listSize`. */
const BOUNDS = ['first', 'last', 'limit', 'perPage', 'pageSize'];
/** The lists in a connection, where the schema does not name them. */
const PAGE_LISTS = ['edges', 'nodes', 'items'];

/** Names a field. */
export interface FieldName {
  readonly type: string;
  readonly field: string;
}

/** An argument (`limit`), or a field of an argument's input object (`page.limit`). */
export interface Bound {
  readonly path: string;
  readonly fallback: number | undefined;
}

/** Returns a field of an object or interface; undefined when the schema does not have it. */
export function findField(schema: GraphQLSchema, { type: name, field }: FieldName): GraphQLField<unknown, unknown> | undefined {
  const type = schema.getType(name);
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[field] : undefined;
}

/** Returns what an operation costs beside its fields, by the name of its root type. */
export function baseCost(schema: GraphQLSchema, root: string): number {
  return root === schema.getMutationType()?.name ? MUTATION_COST : 0;
}

/**
 * Returns what one object or leaf of a field costs: the weight of `@cost` on the field, or on its type; else 1 for an object and 0 for a leaf. Returns
 * undefined where the object types of an abstract type have different weights, which {@link weightOfObject} returns.
 */
export function weightOfField(
  supergraph: GraphQLSchema,
  name: FieldName,
  type: GraphQLField<unknown, unknown>['type'],
): number | undefined {
  const definition = findField(supergraph, name);
  const own = weightOf(definition?.astNode?.directives ?? []);
  if (own !== undefined) return own;
  const named = definition && supergraph.getType(getNamedType(definition.type).name);
  if (!isAbstractType(named)) return weightOf(named?.astNode?.directives ?? []) ?? (isCompositeType(getNamedType(type)) ? 1 : 0);
  const weights = new Set(supergraph.getPossibleTypes(named).map((each) => weightOfObject(supergraph, each.name)));
  return weights.size > 1 ? undefined : ([...weights][0] ?? 1);
}

/** Returns what an object of an object type costs where its field has no weight: the weight of `@cost` on the type, else 1. */
export function weightOfObject(supergraph: GraphQLSchema, type: string): number {
  return weightOf(supergraph.getType(type)?.astNode?.directives ?? []) ?? 1;
}

/**
 * Returns what a value of an input type costs without the fields in it: the weight of `@cost` on the argument or input field, or on its type; else 1
 * for an object and 0 for a leaf.
 */
export function weightOfInput(type: GraphQLInputType, directives: readonly ConstDirectiveNode[] = []): number {
  const named = getNamedType(type);
  return weightOf(directives) ?? weightOf(named.astNode?.directives ?? []) ?? (isInputObjectType(named) ? 1 : 0);
}

/** Returns the weight of `@cost`, by its own name or with the namespace of `@link`; undefined without it. */
function weightOf(directives: readonly ConstDirectiveNode[]): number | undefined {
  const value = argumentOf(find(directives, 'cost'), 'weight');
  const weight = value?.kind === Kind.STRING || value?.kind === Kind.INT ? Number(value.value) : NaN;
  return Number.isFinite(weight) ? weight : undefined;
}

/** Returns the arguments by which a field is sliced, with their defaults: those of `@listSize`, or those with the usual names. */
export function boundsOf(schema: GraphQLSchema, name: FieldName, listSize: ConstDirectiveNode | undefined): Bound[] {
  const definition = findField(schema, name);
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

/** Returns the size of a list when no slicing argument is set; undefined when the schema gives none. `otherwise` is that of a list that can be sliced. */
export function unsetSizeOf(
  listSize: ConstDirectiveNode | undefined,
  bounds: readonly Bound[],
  otherwise = ASSUMED_LIST_SIZE,
): number | undefined {
  const fallbacks = bounds.flatMap(({ fallback }) => (fallback === undefined ? [] : [fallback]));
  if (fallbacks.length > 0) return Math.max(...fallbacks);
  const assumed = argumentOf(listSize, 'assumedSize');
  if (assumed?.kind === Kind.INT) return Number(assumed.value);
  return listSize || bounds.length > 0 ? otherwise : undefined;
}

/** A field with its size, a number or an expression; undefined when there is none. */
export interface Sized<Size> {
  readonly listSize: ConstDirectiveNode | undefined;
  readonly size: Size | undefined;
  readonly isList: boolean;
}

/** Returns the sizes that a field gives to the lists in it, by their names: to `sizedFields`, else to the usual lists of a connection. */
export function sizesWithin<Size>({ listSize, size, isList }: Sized<Size>, assumed: Size): Map<string, Size> {
  const sizedFields = readStrings(listSize, 'sizedFields');
  if (sizedFields.length > 0) return new Map(sizedFields.map((name) => [name, size ?? assumed]));
  return new Map(!isList && size !== undefined ? PAGE_LISTS.map((name) => [name, size]) : []);
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
  return find(directives, 'listSize');
}

function find(directives: readonly ConstDirectiveNode[], name: string): ConstDirectiveNode | undefined {
  return directives.find((each) => each.name.value === name || each.name.value.endsWith(`__${name}`));
}

/** Returns the strings in a list that a directive is given; none without it. */
export function readStrings(directive: ConstDirectiveNode | undefined, name: string): string[] {
  const value = argumentOf(directive, name);
  return value?.kind === Kind.LIST ? value.values.flatMap((each) => (each.kind === Kind.STRING ? [each.value] : [])) : [];
}

/** Returns the value of an argument that a directive is given; undefined without it. */
export function argumentOf(directive: ConstDirectiveNode | undefined, name: string): ConstValueNode | undefined {
  return directive?.arguments?.find((argument) => argument.name.value === name)?.value;
}
