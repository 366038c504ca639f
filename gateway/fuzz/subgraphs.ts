/** Serves random subgraphs. Results depend on names, ids and arguments only: the same field has the same value, null or error in every subgraph. */
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  execute,
  getNamedType,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';
import { hash } from './random.ts';
import type { FuzzSupergraph } from './supergraph.ts';

export interface SubgraphRequest {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string | undefined;
}

export type Subgraphs = (service: string, request: SubgraphRequest) => Promise<Record<string, unknown>>;

interface Source {
  readonly __typename: string;
  readonly id: string;
  /** The path of a value without an id. */
  readonly at?: string;
  readonly [key: string]: unknown;
}

/** How often subgraphs return null, an error, and null for a non-null field or for an entity. */
export interface FaultRates {
  readonly nulls: number;
  readonly errors: number;
  readonly broken: number;
  readonly unknownEntities: number;
}

const FAULTS: FaultRates = { nulls: 0.06, errors: 0.04, broken: 0.01, unknownEntities: 0.03 };
/** Subgraphs that return what the schema promises. */
export const CALM: FaultRates = { nulls: 0.06, errors: 0, broken: 0, unknownEntities: 0 };

export function createSubgraphs({ subgraphs, sdl }: FuzzSupergraph, faults: FaultRates = FAULTS): Subgraphs {
  const typesOfNodes = [...sdl.matchAll(/^type (E\d+) implements Node/gm)].map(([, name]) => name ?? '');
  const moved = findMoved(subgraphs);
  const schemas = new Map(subgraphs.map(({ name, typeDefs }) => [name, createSchema(typeDefs, { name, typesOfNodes, faults })]));
  return async (service, { query, variables, operationName }) => {
    const answer = await execute({
      schema: schemas.get(service) as GraphQLSchema,
      document: parse(query),
      variableValues: variables ?? {},
      operationName,
      fieldResolver: createResolver({ typesOfNodes, faults }, moved.get(service)),
    });
    return JSON.parse(JSON.stringify(answer)) as Record<string, unknown>;
  };
}

/** Fields that a subgraph defines and must not be asked to resolve, as `Type.field`. */
function findMoved(subgraphs: FuzzSupergraph['subgraphs']): Map<string, Set<string>> {
  const moved = new Map<string, Set<string>>();
  for (const { typeDefs } of subgraphs)
    for (const definition of typeDefs.definitions) {
      if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
      for (const { name, directives = [] } of definition.fields ?? []) {
        const from = directives.find((each) => each.name.value === 'override')?.arguments?.[0]?.value;
        if (from?.kind !== Kind.STRING) continue;
        const fields = moved.get(from.value) ?? new Set();
        moved.set(from.value, fields.add(`${definition.name.value}.${name.value}`));
      }
    }
  return moved;
}

function createSchema(
  typeDefs: ReturnType<typeof parse>,
  { name, typesOfNodes, faults }: { name: string; typesOfNodes: readonly string[]; faults: FaultRates },
): GraphQLSchema {
  const schema = buildSubgraphSchema({ typeDefs });
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = (source: Source) => source.__typename;
    if (!isObjectType(type) && !isAbstractType(type)) continue;
    type.extensions = {
      ...type.extensions,
      apollo: {
        ...(type.extensions['apollo'] as object | undefined),
        subgraph: {
          resolveReference: (reference: Record<string, unknown>) => {
            const id = typeof reference['id'] === 'string' ? reference['id'] : String(reference['code']).slice(1);
            if (hash(`${name}${type.name}${id}`) < faults.unknownEntities) return null;
            const concrete = type.name === 'Node' && isAbstractType(type) ? typeOf(id, typesOfNodes) : type.name;
            return { ...reference, __typename: concrete, id };
          },
        },
      },
    };
  }
  return schema;
}

/** Every id belongs to one type. */
function typeOf(id: string, types: readonly string[]): string {
  return types[Math.floor(hash(`type of ${id}`) * types.length)] ?? 'E0';
}

/** The fields of a representation that are not required fields. */
const KEYS = new Set(['__typename', 'id', 'code']);

interface Values {
  readonly typesOfNodes: readonly string[];
  readonly faults: FaultRates;
}

function createResolver(values: Values, moved?: ReadonlySet<string>): GraphQLFieldResolver<Source | undefined, unknown> {
  return (source, args, _, { fieldName, parentType, returnType, operation }) => {
    if (moved?.has(`${parentType.name}.${fieldName}`))
      throw new GraphQLError('asked where it is overridden', { extensions: { code: 'MOVED' } });
    if (fieldName === 'id') return source?.id;
    if (fieldName === 'code') return `c${source?.id ?? ''}`;
    const of = parentType.name === 'Query' || parentType.name === 'Mutation' ? operation.operation : parentType.name;
    // Required fields of other subgraphs come with the representation; a computed field returns all of them.
    if (/^e\d+cs\d+$/.test(fieldName)) {
      const required = Object.entries(source as Source).filter(([name]) => !KEYS.has(name));
      return `${source?.__typename ?? ''}${source?.id ?? ''}${JSON.stringify(Object.fromEntries(required))}`;
    }
    const key = `${of}.${source?.id ?? ''}.${source?.at ?? ''}.${fieldName}.${JSON.stringify(args)}`;
    return resolve(returnType, { key, ...values });
  };
}

interface Place extends Values {
  readonly key: string;
  /** Whether null is an error here, which subgraphs without faults do not make. */
  readonly isRequired?: boolean;
}

function resolve(type: GraphQLOutputType, { key, typesOfNodes, faults, isRequired = false }: Place): unknown {
  const drawn = hash(key);
  if (drawn < faults.errors) throw new GraphQLError(`no ${key}`, { extensions: { code: 'NOT_FOUND' } });
  if (isNonNullType(type))
    return drawn > 1 - faults.broken ? null : resolve(type.ofType, { key: `${key}!`, typesOfNodes, faults, isRequired: true });
  if (drawn > 1 - faults.nulls && !(isRequired && faults.broken === 0)) return null;
  if (isListType(type))
    return Array.from({ length: Math.floor(drawn * 1000) % 4 }, (_, i) =>
      attempt(() => resolve(type.ofType, { key: `${key}[${i}]`, typesOfNodes, faults })),
    );
  const named = getNamedType(type);
  const number = Math.floor(drawn * 1e6);
  if (isEnumType(named)) return ['RED', 'GREEN', 'BLUE'][number % 3];
  const id = String(number % 5);
  if (isAbstractType(named)) {
    const types = named.name === 'Node' ? [] : ['E0', 'E1', 'E2', 'E3', 'Value'].filter((name) => isMember(named, name));
    const typename = named.name === 'Node' ? typeOf(id, typesOfNodes) : (types[number % types.length] ?? 'Value');
    return { __typename: typename, id, ...(typename === 'Value' && { at: key }) };
  }
  if (isObjectType(named)) return { __typename: named.name, id, ...(named.name === 'Value' && { at: key }) };
  switch (named.name) {
    case 'Int':
      return number % 1000;
    case 'Float':
      return number / 7;
    case 'Boolean':
      return number % 2 === 0;
    case 'Any':
      return number % 3 === 0 ? { a: [number, { b: null }] } : number % 3 === 1 ? 'any "text" \u00e9\u2028' : 7;
    default:
      return `${named.name} ${number % 100}${number % 11 === 0 ? ' "q" \u00fc \ud83d\ude00' : ''}`;
  }
}

function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

function isMember(type: GraphQLOutputType, name: string): boolean {
  return 'getTypes' in type && type.getTypes().some((each) => each.name === name);
}
