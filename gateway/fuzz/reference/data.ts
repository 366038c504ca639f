/**
 * The data of a random schema. Values depend on names, ids and arguments only: a field has the same value in every subgraph and in the schema as a
 * whole.
 */
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  execute,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';
import { hash } from '../random.ts';
import type { SubgraphRequest, Subgraphs } from '../subgraphs.ts';
import { type Placed, findSetter } from './contexts.ts';
import type { Facts, World } from './world.ts';

interface Source extends Placed {
  readonly id?: string;
  /** The path of a value without an id. */
  readonly at?: string;
  readonly isSteady?: boolean;
  readonly [key: string]: unknown;
}

type FieldResolver = GraphQLFieldResolver<Source | undefined, unknown>;

const NULLS = 0.06;
const ERRORS = 0.05;
/** How often a non-null field is null. */
const BROKEN = 0.02;
/** Fields of the interface object, whose values depend on the id only. */
const EXTRA = 'extra';

/** Called for each field of a mutation that is executed, with its name and arguments. */
export type NoteCall = (call: string) => void;

/** Returns the subgraphs of a world. */
export function createWorldSubgraphs({ subgraphs, facts }: World, note: NoteCall = () => undefined): Subgraphs {
  const schemas = new Map(subgraphs.map(({ name, typeDefs }) => [name, buildSubgraphSchema({ typeDefs })]));
  for (const schema of schemas.values()) addReferences(schema, facts);
  const fieldResolver = noteCalls(
    createResolver(facts, (source, selections) => pick(source, selections)),
    note,
  );
  return async (service, request) => ({ ...(await run(schemas.get(service) as GraphQLSchema, { request, fieldResolver })) });
}

/** Returns the reference: graphql-js on one schema, without federation. */
export function createReference(
  schema: GraphQLSchema,
  { facts, note }: { facts: Facts; note: NoteCall },
): (request: SubgraphRequest) => Promise<ExecutionResult> {
  for (const type of Object.values(schema.getTypeMap())) if (isAbstractType(type)) type.resolveType = (source: Source) => source.__typename;
  const read = (source: Source, selections: SelectionSetNode) =>
    evaluate({ schema, facts, fieldResolver }, { type: schema.getType(source.__typename) as GraphQLObjectType, source, selections });
  const resolveField = noteCalls(createResolver(facts, read), note);
  const fieldResolver: GraphQLFieldResolver<Source, unknown> = (source, args, context, info) => {
    const contextual = facts.contextual?.get(`${info.parentType.name}.${info.fieldName}`) ?? [];
    const values = contextual.map((argument) => {
      const setter = findSetter(source, argument);
      const selection = setter && argument.setters.get(setter.__typename);
      return [argument.name, selection === undefined ? null : leafOf(read(setter as Source, selectionsOf(selection)))];
    });
    const value = resolveField(source, { ...args, ...Object.fromEntries(values) }, context, info);
    return facts.contextual ? place(value, source) : value;
  };
  return (request) => run(schema, { request, fieldResolver, rootValue: { __typename: 'Query' } });
}

function noteCalls(resolver: FieldResolver, note: NoteCall): FieldResolver {
  return (source, args: Record<string, unknown>, context, info) => {
    if (info.parentType.name === 'Mutation') note(`${info.fieldName}(${stringify(args)})`);
    return resolver(source, args, context, info);
  };
}

/** Says of objects, also in lists, which object they are in. */
function place(value: unknown, within: Source): unknown {
  if (Array.isArray(value)) return value.map((each) => place(each, within));
  const isObject = typeof value === 'object' && value !== null && '__typename' in value;
  return isObject ? { ...value, within } : value;
}

/** Returns the value that a selection of one field, and one field of its object, has. */
function leafOf(value: Record<string, unknown>): unknown {
  const [own] = Object.values(value);
  const isObject = typeof own === 'object' && own !== null && IS_SELECTED in own;
  return isObject ? leafOf(own) : own;
}

/** Marks objects that have the fields of a selection set, as values of custom scalars may be objects too. */
const IS_SELECTED = Symbol('selected');

interface Run {
  readonly request: SubgraphRequest;
  readonly fieldResolver: GraphQLFieldResolver<never, unknown>;
  readonly rootValue?: object;
}

async function run(schema: GraphQLSchema, { request, fieldResolver, rootValue }: Run): Promise<ExecutionResult> {
  const { query, variables, operationName } = request;
  const answer = await execute({
    schema,
    document: parse(query),
    variableValues: variables ?? {},
    operationName,
    rootValue,
    fieldResolver: fieldResolver as GraphQLFieldResolver<unknown, unknown>,
  });
  return JSON.parse(JSON.stringify(answer)) as ExecutionResult;
}

function addReferences(schema: GraphQLSchema, { products }: Facts): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = (source: Source) => source.__typename;
    if (!isObjectType(type) && !isAbstractType(type)) continue;
    const resolveReference = (reference: Record<string, unknown>) => {
      const id = typeof reference['id'] === 'string' ? reference['id'] : String(reference['code']).slice(1);
      return { ...reference, id, __typename: isAbstractType(type) ? productOf(id, products) : type.name };
    };
    type.extensions = {
      ...type.extensions,
      apollo: { ...(type.extensions['apollo'] as object | undefined), subgraph: { resolveReference } },
    };
  }
}

function productOf(id: string, products: readonly string[]): string {
  return products[Number(id) % products.length] ?? 'E0';
}

/** Resolves a field; `require` returns the required fields of a computed field. */
function createResolver(facts: Facts, require: (source: Source, selections: SelectionSetNode) => unknown): FieldResolver {
  return (source, args: Record<string, unknown>, _, { fieldName, parentType, returnType }) => {
    if (fieldName === 'id') return source?.id;
    if (fieldName === 'code') return `c${source?.id ?? ''}`;
    const of = fieldName.startsWith(EXTRA) ? 'Product' : parentType.name;
    const coordinate = `${of}.${fieldName}`;
    const required = facts.computed.get(coordinate);
    const given = facts.contextual?.has(coordinate) === true ? stringify(args) : '';
    if (required !== undefined && source) return `${source.id ?? ''} ${JSON.stringify(require(source, selectionsOf(required)))}${given}`;
    const isSteady = source?.isSteady === true || facts.steady.has(coordinate);
    const key = `${coordinate} ${source?.id ?? ''} ${source?.at ?? ''} ${stringify(args)}`;
    return resolve(returnType, { key, facts, candidates: facts.candidates.get(coordinate), isSteady, isRequired: false });
  };
}

const parsed = new Map<string, SelectionSetNode>();

function selectionsOf(text: string): SelectionSetNode {
  const known = parsed.get(text);
  if (known) return known;
  const [operation] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`Not a selection set: ${text}`);
  parsed.set(text, operation.selectionSet);
  return operation.selectionSet;
}

/** Reads required fields from a representation. */
function pick(value: unknown, set: SelectionSetNode): unknown {
  if (Array.isArray(value)) return value.map((each) => pick(each, set));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    set.selections.flatMap((each) => {
      if (each.kind !== Kind.FIELD) return [];
      const own = (value as Record<string, unknown>)[each.name.value];
      if (own === undefined) throw new GraphQLError(`${each.name.value} is not in the representation`);
      return [[each.name.value, each.selectionSet ? pick(own, each.selectionSet) : own]];
    }),
  );
}

interface Evaluation {
  readonly schema: GraphQLSchema;
  readonly facts: Facts;
  readonly fieldResolver: GraphQLFieldResolver<Source, unknown>;
}

/** Reads required fields from the data. */
function evaluate(
  evaluation: Evaluation,
  { type, source, selections }: { type: GraphQLObjectType; source: Source; selections: SelectionSetNode },
): Record<string, unknown> {
  const complete = (value: unknown, set: SelectionSetNode | undefined): unknown => {
    if (Array.isArray(value)) return value.map((each) => complete(each, set));
    if (!set || value === null || value === undefined) return value ?? null;
    const own = value as Source;
    return evaluate(evaluation, { type: evaluation.schema.getType(own.__typename) as GraphQLObjectType, source: own, selections: set });
  };
  const fields = Object.fromEntries(
    selections.selections.flatMap((each) => {
      if (each.kind !== Kind.FIELD) return [];
      const fieldName = each.name.value;
      const field = type.getFields()[fieldName];
      if (!field) return [];
      const info = { fieldName, parentType: type, returnType: field.type } as Parameters<GraphQLFieldResolver<Source, unknown>>[3];
      return [[fieldName, complete(evaluation.fieldResolver(source, getArgumentValues(field, each), {}, info), each.selectionSet)]];
    }),
  );
  return Object.defineProperty(fields, IS_SELECTED, { value: true });
}

interface Drawing {
  readonly key: string;
  readonly facts: Facts;
  readonly candidates: readonly string[] | undefined;
  readonly isSteady: boolean;
  readonly isRequired: boolean;
}

function resolve(type: GraphQLOutputType, drawing: Drawing): unknown {
  const { key, facts, candidates, isSteady, isRequired } = drawing;
  const drawn = hash(key);
  if (!isSteady && drawn < ERRORS) throw new GraphQLError(`no ${key}`, { extensions: { code: 'NOT_FOUND' } });
  if (isNonNullType(type))
    return !isSteady && drawn > 1 - BROKEN ? null : resolve(type.ofType, { ...drawing, key: `${key}!`, isRequired: true });
  if (drawn > 1 - NULLS && !isRequired) return null;
  if (isListType(type))
    return Array.from({ length: Math.floor(drawn * 1000) % 4 }, (_, i) =>
      attempt(() => resolve(type.ofType, { ...drawing, key: `${key}[${i}]`, isRequired: false })),
    );
  const named = getNamedType(type);
  const number = Math.floor(drawn * 1e6);
  if (isLeafType(named)) return isEnumType(named) ? ['RED', 'GREEN', 'BLUE'][number % 3] : drawLeaf(named.name, number);
  if (named.name === 'Value') return { __typename: 'Value', at: key, isSteady };
  const typename = named.name === 'Product' ? undefined : candidates ? (candidates[number % candidates.length] ?? 'E0') : named.name;
  const id = typename === undefined ? String(number % 5) : idOf(typename, { number, products: facts.products });
  return { __typename: typename ?? (isAbstractType(named) ? productOf(id, facts.products) : named.name), id };
}

/** Returns an id for a type; ids of products contain their type. */
function idOf(type: string, { number, products }: { number: number; products: readonly string[] }): string {
  const at = products.indexOf(type);
  return String(at < 0 ? number % 5 : at + products.length * (number % 3));
}

function drawLeaf(type: string, number: number): unknown {
  switch (type) {
    case 'Int':
      return number % 1000;
    case 'Float':
      return number / 7;
    case 'Boolean':
      return number % 2 === 0;
    case 'Any':
      return number % 3 === 0 ? { a: [number, { b: null }] } : number % 3 === 1 ? 'any "text" \u00e9\u2028' : 7;
    default:
      return `${type} ${number % 100}${number % 11 === 0 ? ' "q" \u00fc \ud83d\ude00 \u2192' : ''}`;
  }
}

function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

/** Returns JSON with sorted keys. */
function stringify(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
