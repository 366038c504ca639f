/** A fetch that is prepared for execution on bytes: what it requests, and how its entities are identified. */
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  isObjectType,
  parse,
  visit,
} from 'graphql';
import type { BytesFetch, KnownType, RepeatedKey, Representation } from '../../program/bytes-program.ts';
import type { FetchStep } from '../../program/program.ts';
import type { RequiredSelection } from '../selections/requirements.ts';
import { type RequestedHole, type RequestedObject, RequestedReader, Unsupported } from './requested-object.ts';

/** What a fetch step was compiled from. */
export interface FetchSource {
  readonly step: FetchStep;
  readonly requires: readonly RequiredSelection[] | undefined;
  /** Whether the planner rewrites the representations. */
  readonly hasInputRewrites: boolean;
  /** The names that `__typename` of its entities may have; undefined for any. */
  readonly onlyFor: ReadonlySet<string> | undefined;
  /** The keys by which the subgraph resolves entities of a type, each as its fields. */
  readonly keysOf: (type: string) => readonly (readonly string[])[];
}

export interface RequestedFetch {
  readonly index: number;
  readonly source: FetchSource;
  readonly definition: OperationDefinitionNode;
  /** The objects at the top of its response: the root object, or the entities of each type. */
  readonly tops: readonly RequestedTop[];
  /** The numbers that are taken by holes and registers of its walker. */
  holes: number;
  registers: number;
  parts: number;
  readonly owners: number[];
  readonly knownTypes: KnownType[];
  readonly repeatedKeys: RepeatedKey[];
}

export interface RequestedTop {
  readonly object: RequestedObject;
  /** The client's fields that it provides, as a string to compare; undefined until it is arranged. */
  signature: string | undefined;
  representation: Representation | undefined;
  /** The holes with the keys of fetches that require its fields, which stand at its start, and how far each is from there. */
  readonly keys: Map<RequestedFetch, { readonly item: { readonly kind: 'hole'; readonly hole: RequestedHole }; readonly offset: number }>;
}

/** Returns the fetch. Throws Unsupported. */
export function askFetch(schema: GraphQLSchema, source: FetchSource, index: number): RequestedFetch {
  const { step, hasInputRewrites, onlyFor } = source;
  if (hasInputRewrites || step.rewrites.length > 0) throw new Unsupported('the plan renames fields');
  if (step.isRepeated) throw new Unsupported('the plan repeats a fetch');
  const document = parse(step.operation);
  const [definition, ...others] = document.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION || others.length > 0) throw new Unsupported('a fetch with fragments');
  requirePlainFragments(definition);
  const tops = (step.entities ? readEntities(schema, source, definition) : readRoot(schema, definition))
    .filter(({ type }) => onlyFor?.has(type.name) ?? true)
    .map((object) => ({ object, signature: undefined, representation: undefined, keys: new Map() }));
  if (!step.entities && step.path.length > 0) throw new Unsupported('a root field inside the response');
  return { index, source, definition, tops, holes: 0, registers: 0, parts: 1, owners: [], knownTypes: [], repeatedKeys: [] };
}

function readRoot(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): RequestedObject[] {
  const root = schema.getRootType(operation);
  return root ? [new RequestedReader(schema).read(root, [{ set: selectionSet, when: [] }])] : [];
}

/** Reads `_entities(representations:) { ... on Type { … } }` for each type that the fetch requires. */
function readEntities(schema: GraphQLSchema, { requires = [] }: FetchSource, definition: OperationDefinitionNode): RequestedObject[] {
  const { selectionSet } = entitiesOf(definition);
  const types = requires.map((each): GraphQLObjectType => {
    const type = each.kind === 'InlineFragment' ? schema.getType(each.typeCondition ?? '') : undefined;
    if (!isObjectType(type)) throw new Unsupported('entities of an abstract type');
    return type;
  });
  if (new Set(types).size < types.length) throw new Unsupported('a type of entities has several keys');
  const reader = new RequestedReader(schema);
  return types.map((type) => reader.read(type, [{ set: selectionSet, when: [] }]));
}

/** Returns the field `_entities` of a fetch of entities. Throws Unsupported. */
export function entitiesOf({ selectionSet }: OperationDefinitionNode): FieldNode & { readonly selectionSet: SelectionSetNode } {
  const [field, ...others] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD || !field.selectionSet || others.length > 0) throw new Unsupported('a fetch of entities and more');
  return field as FieldNode & { readonly selectionSet: SelectionSetNode };
}

/** Directives of fragments other than `@skip` and `@include` would be lost, because fields are requested without their fragments. */
function requirePlainFragments(definition: OperationDefinitionNode): void {
  visit(definition, {
    InlineFragment({ directives = [] }) {
      if (directives.some(({ name }) => name.value !== 'skip' && name.value !== 'include'))
        throw new Unsupported('a fragment with a directive');
    },
  });
}

/** Returns the fetch as data. `document` is the document with the fields in their new order. */
export function toBytesFetch({ source, tops, parts, owners, knownTypes, repeatedKeys }: RequestedFetch, document: string): BytesFetch {
  const { operationName, entities } = source.step;
  const name = operationName === undefined ? '' : `"operationName":${JSON.stringify(operationName)},`;
  return {
    prefix: `{"query":${JSON.stringify(document)},${name}"variables":{`,
    parts,
    representations: entities && tops.map(({ representation }) => representation ?? { texts: [] }),
    owners,
    knownTypes,
    repeatedKeys,
  };
}
