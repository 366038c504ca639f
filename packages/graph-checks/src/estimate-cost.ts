/** Estimates what an operation costs by the rules of the gateway (docs/gateway/cost.md), without the values of its variables. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  buildASTSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import {
  ASSUMED_LIST_SIZE,
  type FieldName,
  baseCost,
  boundsOf,
  findField,
  findListSize,
  sizesWithin,
  unsetSizeOf,
  weightOfField,
  weightOfObject,
} from './cost-directives.ts';
import { costOfArguments, readSize } from './given-values.ts';

/** The schema that clients see, and the supergraph's own, which has the directives. */
export interface CostSchemas {
  readonly schema: GraphQLSchema;
  readonly supergraph: GraphQLSchema;
}

/** Returns whether an SDL may have a directive of costs. Most supergraphs have none. */
const COST_DIRECTIVES = /@(?:\w*__)?(?:cost|listSize)\b/u;

/** Builds the schemas of two texts that composition has written. A supergraph without directives of costs says nothing more than the public schema. */
export function toCostSchemas(api: GraphQLSchema | string, supergraphSdl: string): CostSchemas {
  // Without locations, which take most of the time and memory.
  const build = (sdl: string) => buildASTSchema(parse(sdl, { noLocation: true }), { assumeValidSDL: true });
  const schema = typeof api === 'string' ? build(api) : api;
  return { schema, supergraph: COST_DIRECTIVES.test(supergraphSdl) ? build(supergraphSdl) : schema };
}

/** Configures an estimate. */
export interface EstimateOptions {
  /** Whether literals were replaced in the document, as in recorded texts: then the number 0 and an empty list say nothing. Default: false. */
  readonly isNormalised?: boolean;
  /** The size of a list that neither the schema nor the operation gives one. Default: 10. */
  readonly assumedListSize?: number;
  /** How many fields may be looked at; less by those that were. Default: 100,000. */
  readonly budget?: { fields: number };
}

const MAX_FIELDS = 100_000;
/** Deeper operations, and fragments in fragments, are not estimated; fragments that contain themselves are among them. */
const MAX_DEPTH = 100;

/** The state of one estimate: the schemas, the fragments, and the costs that are known. */
interface Walk extends CostSchemas {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The defaults of variables that have one. */
  readonly defaults: ReadonlyMap<string, ValueNode>;
  readonly isNormalised: boolean;
  readonly assumedListSize: number;
  readonly budget: { fields: number };
  /** The costs that are known, by type, selection sets and sizes. */
  readonly known: Map<string, number>;
  readonly ids: Map<SelectionSetNode, number>;
}

/** The fields with one response key. */
interface SelectedField {
  /** Undefined for `__typename` and the introspection fields. */
  readonly type: GraphQLOutputType | undefined;
  readonly node: FieldNode;
  readonly sets: SelectionSetNode[];
}

/** Sets to be merged, and the sizes that the field above gives to lists in them. */
interface Selected {
  readonly sets: readonly SelectionSetNode[];
  readonly sized: ReadonlyMap<string, number>;
  readonly depth: number;
  /** Whether the cost has the weight of the object's type. Default: false. */
  readonly isWeighed?: boolean;
}

/** Thrown when a schema lacks a field that the operation selects, or when the operation is too large. */
class NoEstimateError extends Error {}

/**
 * Returns the estimated cost, of several operations the highest; undefined when the schema lacks what the document selects, or it is too large. A value that a
 * variable gives is the variable's default, and otherwise unknown: it slices no list, and costs as one value. Conditions with variables count as met.
 * Introspection costs nothing.
 */
export function estimateCost(schemas: CostSchemas, document: DocumentNode, options: EstimateOptions = {}): number | undefined {
  const { isNormalised = false, assumedListSize = ASSUMED_LIST_SIZE, budget = { fields: MAX_FIELDS } } = options;
  const { definitions } = document;
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  );
  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  try {
    const costs = operations.map((operation) => {
      const own = { defaults: defaultsOf(operation), known: new Map(), ids: new Map() };
      const walk = { ...schemas, fragments, isNormalised, assumedListSize, budget, ...own };
      return costOfOperation(operation, walk);
    });
    return costs.length > 0 && costs.every(Number.isFinite) ? Math.max(...costs) : undefined;
  } catch (error) {
    if (error instanceof NoEstimateError) return undefined;
    throw error;
  }
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, ValueNode> {
  return new Map(variableDefinitions.flatMap(({ variable, defaultValue }) => (defaultValue ? [[variable.name.value, defaultValue]] : [])));
}

function costOfOperation({ operation, selectionSet }: OperationDefinitionNode, walk: Walk): number {
  const root = walk.schema.getRootType(operation);
  if (!root) throw new NoEstimateError();
  return baseCost(walk.schema, root.name) + costOfSets(root, { sets: [selectionSet], sized: new Map(), depth: 0 }, walk);
}

/** The cost of an object of an abstract type is the highest cost of its object types. */
function costOfSets(type: GraphQLCompositeType, selected: Selected, walk: Walk): number {
  const { sets, sized, depth, isWeighed = false } = selected;
  if (depth > MAX_DEPTH) throw new NoEstimateError();
  const key = `${type.name}|${sets.map((set) => idOf(set, walk)).join()}|${[...sized].join()}|${String(isWeighed)}`;
  const known = walk.known.get(key);
  if (known !== undefined) return known;
  const types = isAbstractType(type) ? walk.schema.getPossibleTypes(type) : [type];
  const costs = types.map((each) => {
    const fields = [...collect(each, sets, walk).values()];
    const own = isWeighed ? weightOfObject(walk.supergraph, each.name) : 0;
    return fields.reduce((sum, field) => sum + costOfField({ type: each.name, field: field.node.name.value }, field, selected, walk), own);
  });
  const cost = costs.length > 0 ? Math.max(...costs) : 0;
  walk.known.set(key, cost);
  return cost;
}

function idOf(set: SelectionSetNode, { ids }: Walk): number {
  const id = ids.get(set) ?? ids.size;
  ids.set(set, id);
  return id;
}

// eslint-disable-next-line size/max-params -- a field, where it is selected, and what stays the same
function costOfField(name: FieldName, { type, node, sets }: SelectedField, { sized: above, depth }: Selected, walk: Walk): number {
  if (!type) return 0;
  const listSize = findListSize(findField(walk.supergraph, name)?.astNode?.directives ?? []);
  const given = node.arguments ?? [];
  const bounds = boundsOf(walk.schema, name, listSize);
  const sizes = bounds.flatMap(({ path }) => readSize(given, path, walk) ?? []);
  const size = sizes.length > 0 ? Math.max(...sizes) : unsetSizeOf(listSize, bounds, walk.assumedListSize);
  const isList = isListType(getNullableType(type));
  const sized = sizesWithin({ listSize, size, isList }, walk.assumedListSize);
  const named = getNamedType(type);
  const weight = weightOfField(walk.supergraph, name, type);
  const inner = { sets, sized, depth: depth + 1, isWeighed: weight === undefined };
  const one = (weight ?? 0) + (isCompositeType(named) ? costOfSets(named, inner, walk) : 0);
  const times = isList ? (above.get(name.field) ?? size ?? walk.assumedListSize) : 1;
  // Arguments are given once, however long the list is.
  return costOfArguments(findField(walk.supergraph, name)?.args ?? [], given, walk) + times * one;
}

/** Returns the fields that are selected of a type, by response key (GraphQL §6.3.2). */
function collect(type: GraphQLCompositeType, sets: readonly SelectionSetNode[], walk: Walk): Map<string, SelectedField> {
  const fields = new Map<string, SelectedField>();
  const entered = new Set<string>();
  const enter = ({ selections }: SelectionSetNode, nesting: number): void => {
    if (nesting > MAX_DEPTH) throw new NoEstimateError();
    for (const selection of selections) {
      if (isExcluded(selection)) continue;
      if (--walk.budget.fields < 0) throw new NoEstimateError();
      if (selection.kind === Kind.FIELD) addField(type, selection, fields);
      else {
        const name = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : undefined;
        if (name !== undefined && entered.has(name)) continue;
        if (name !== undefined) entered.add(name);
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? walk.fragments.get(selection.name.value) : selection;
        if (!fragment) throw new NoEstimateError();
        if (isOf(type, fragment.typeCondition?.name.value, walk.schema)) enter(fragment.selectionSet, nesting + 1);
      }
    }
  };
  for (const set of sets) enter(set, 0);
  return fields;
}

function addField(type: GraphQLCompositeType, node: FieldNode, fields: Map<string, SelectedField>): void {
  const name = node.name.value;
  const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  if (!definition && !name.startsWith('__')) throw new NoEstimateError();
  const key = node.alias?.value ?? name;
  const field = fields.get(key) ?? { type: definition?.type, node, sets: [] };
  fields.set(key, field);
  if (node.selectionSet) field.sets.push(node.selectionSet);
}

function isOf(type: GraphQLCompositeType, condition: string | undefined, schema: GraphQLSchema): boolean {
  if (condition === undefined || condition === type.name) return true;
  const wanted = schema.getType(condition);
  if (!wanted) throw new NoEstimateError();
  return isAbstractType(wanted) && isObjectType(type) && schema.isSubType(wanted, type);
}

/** Whether a literal of `@skip` or `@include` leaves a selection out. */
function isExcluded({ directives = [] }: SelectionNode): boolean {
  return directives.some(({ name, arguments: [condition] = [] }) => {
    const isTrue = name.value === 'include';
    const value = condition?.value;
    return (isTrue || name.value === 'skip') && value?.kind === Kind.BOOLEAN && value.value !== isTrue;
  });
}
