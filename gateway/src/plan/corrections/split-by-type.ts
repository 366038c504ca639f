/**
 * Splits a fetch of entities by their object types. From a subgraph with an `@interfaceObject` the planner fetches for all types what the operation
 * selects for some: such a fetch reports errors of fields that were not selected, and lacks the fields that they require.
 */
import type { FetchNode, PlanNode, QueryPlanSelectionNode, SubscriptionNode } from '@apollo/query-planner';
import { type DocumentNode, type GraphQLSchema, isAbstractType, parse, print, stripIgnoredCharacters } from 'graphql';
import { narrowRequired } from './narrow-required.ts';
import { type RequiredPaths, addRequired, keysOf, renamedKeys } from '../selections/required-paths.ts';
import { type FieldRequirements, leavesOf } from '../selections/requirements.ts';
import { type Condition, union } from '../selections/selection.ts';
import { type SelectedField, type SelectedFields, createSelectedFields } from '../selections/selected-fields.ts';
import { type Keeps, filterFields, typeConditionsOf } from './entity-fields.ts';
import { withoutUnusedVariables } from './split-fetch.ts';
import { typesOf } from '../selections/type-names.ts';
import type { TypedFetch } from '../selections/typed-fetch.ts';

export interface TypeFacts {
  /** The whole supergraph's schema. */
  readonly schema: GraphQLSchema;
  /** Names of the interfaces that some subgraph defines as `@interfaceObject`. */
  readonly interfaceObjects: ReadonlySet<string>;
  readonly requirements: FieldRequirements;
}

/** Returns the plan of `document`, an operation without fragment spreads, with a {@link TypedFetch} for each set of types that selects other fields. */
export function splitByType(
  plan: PlanNode | SubscriptionNode | undefined,
  document: DocumentNode,
  facts: TypeFacts,
): PlanNode | SubscriptionNode | undefined {
  if (!plan || facts.interfaceObjects.size === 0) return plan;
  const required: RequiredPaths = new Map();
  const selected = createSelectedFields(facts.schema, document);
  const walk = (node: PlanNode, path: readonly string[], when: readonly Condition[]): PlanNode => {
    switch (node.kind) {
      case 'Sequence':
      case 'Parallel':
        // In reverse order: what a later fetch requires must be known when an earlier one is looked at.
        return {
          ...node,
          nodes: node.nodes
            .toReversed()
            .map((each) => walk(each, path, when))
            .reverse(),
        };
      case 'Flatten':
        return { ...node, node: walk(node.node, [...path, ...node.path.map(String)], when) };
      case 'Condition': {
        const clause = (each: PlanNode | undefined, isTrue: boolean) =>
          each && walk(each, path, union(when, [{ variable: node.condition, isTrue }]));
        const [ifClause, elseClause] = [clause(node.ifClause, true), clause(node.elseClause, false)];
        return { kind: 'Condition', condition: node.condition, ...(ifClause && { ifClause }), ...(elseClause && { elseClause }) };
      }
      case 'Fetch': {
        const fetches = splitNode(node, { path, when, required, selected, facts });
        for (const each of fetches) addRequired(required, each, { path: keysOf(path), schema: facts.schema });
        const narrowed = fetches.map((each) => narrowRequired(each, { path, required, selected, ...facts }));
        return narrowed.length === 1 ? (narrowed[0] as FetchNode) : { kind: 'Parallel', nodes: narrowed };
      }
      case 'Defer': {
        // What a deferred fetch requires must be known, as above.
        const deferred = node.deferred.map((each) => (each.node ? { ...each, node: walk(each.node, path, when) } : each));
        const { primary } = node;
        return { ...node, deferred, primary: primary.node ? { ...primary, node: walk(primary.node, path, when) } : primary };
      }
    }
  };
  const rest: PlanNode | undefined = plan.kind === 'Subscription' ? plan.rest : plan;
  if (!rest) return plan;
  const split = walk(rest, [], []);
  return plan.kind === 'Subscription' ? { ...plan, rest: split } : split;
}

interface Surroundings {
  readonly path: readonly string[];
  /** Conditions of the nodes around the fetch, which its document does not repeat. */
  readonly when: readonly Condition[];
  /** What later fetches require. */
  readonly required: ReadonlyMap<string, ReadonlySet<string> | undefined>;
  readonly selected: SelectedFields;
  readonly facts: TypeFacts;
}

interface Part {
  readonly types: Set<string>;
  readonly document: DocumentNode;
  /** Coordinates of the entities' fields that it fetches. */
  readonly fields: ReadonlySet<string>;
}

function splitNode(node: FetchNode, around: Surroundings): TypedFetch[] {
  const { schema, requirements } = around.facts;
  if (!node.requires) return [node];
  const document = parse(node.operation, { noLocation: true });
  if (!typeConditionsOf(document).some((name) => requirements.isInterfaceObject(node.serviceName, name))) return [node];
  const all = filterFields(document, () => true).fields;
  const types = [...new Set(node.requires.flatMap(conditionsIn).flatMap((name) => typesOf(schema, name)))];
  const keepsFor = selectKept(node, document, { types, around });
  const parts = new Map<string, Part>();
  for (const type of types) {
    const part = filterFields(document, keepsFor(type));
    if (part.fields.size === 0 && all.size > 0) continue;
    const text = print(part.document);
    const known = parts.get(text);
    if (known) known.types.add(type);
    else parts.set(text, { ...part, types: new Set([type]) });
  }
  const [only] = parts.values();
  if (!only || (parts.size === 1 && types.every((type) => only.types.has(type)))) return [node];
  return Array.from(parts.values(), (part) => toFetch(node, { part, all, requirements }));
}

function conditionsIn(selection: QueryPlanSelectionNode): string[] {
  return selection.kind === 'InlineFragment' && selection.typeCondition !== undefined ? [selection.typeCondition] : [];
}

/** Returns a test for the fields of a fetch that objects of a type need: all but those that the operation selects for other types only. */
function selectKept(
  node: FetchNode,
  document: DocumentNode,
  { types, around }: { types: readonly string[]; around: Surroundings },
): (type: string) => Keeps {
  const { path, required, selected } = around;
  const base = keysOf(path);
  const renamed = renamedKeys(node);
  const nameOf = (at: string) =>
    at
      .split('.')
      .map((key) => renamed.get(key) ?? key)
      .join('.');
  /** Returns a string that is equal for the same field of the fetch and of the operation. */
  const textOf = ({ text, when }: SelectedField) =>
    `${text} ${when
      .filter((one) => !around.when.some((other) => one.variable === other.variable && one.isTrue === other.isTrue))
      .map(({ variable, isTrue }) => `${isTrue ? '' : '!'}${variable}`)
      .sort()
      .join()}`;
  const fetched = new Map<string, Set<string>>();
  filterFields(document, (at, field) => {
    fetched.set(nameOf(at), (fetched.get(nameOf(at)) ?? new Set()).add(textOf(field)));
    return true;
  });
  const byType = new Map(types.map((type) => [type, selected(path, type)]));
  return (type) => (at, field) => {
    // An object whose type is not known may be of any type of the interface.
    if (isAbstractType(around.facts.schema.getType(type))) return true;
    const name = nameOf(at);
    const paths = [at, name].map((each) => [...base, each].join('.')).filter((each) => required.has(each));
    const isOwn = !at.includes('.');
    if (paths.some((each) => !isOwn || (required.get(each)?.has(type) ?? true))) return true;
    const ways = byType.get(type)?.get(name)?.map(textOf);
    // A field that no type selects or requires is fetched for another reason.
    if (!ways) return paths.length === 0 && ![...byType.values()].some((each) => each.has(name));
    return ways.includes(textOf(field)) || ways.some((way) => !fetched.get(name)?.has(way));
  };
}

function toFetch(
  node: FetchNode,
  { part, all, requirements }: { part: Part; all: ReadonlySet<string>; requirements: FieldRequirements },
): TypedFetch {
  const { document, variables } = withoutUnusedVariables(part.document);
  const leavesFor = (coordinates: Iterable<string>) =>
    [...coordinates].flatMap((coordinate) => {
      const [type = '', field = ''] = coordinate.split('.');
      const required = requirements.of(node.serviceName, type, field);
      return required ? leavesOf(required, []) : [];
    });
  const needed = new Set(leavesFor(part.fields));
  const dropped = new Set(leavesFor([...all].filter((each) => !part.fields.has(each))).filter((path) => !needed.has(path)));
  const keys = new Set([...part.types].flatMap((type) => requirements.keysOf(node.serviceName, type)).flat());
  return {
    ...node,
    operation: stripIgnoredCharacters(print(document)),
    variableUsages: (node.variableUsages ?? []).filter((name) => variables.has(name)),
    requires: withoutRequired(node.requires ?? [], [], (path) => dropped.has(path.join('.')) && !keys.has(path[0] ?? '')),
    onlyFor: part.types,
  };
}

/** Returns the required selections without dropped leaves, and without fields that have no selections left. */
function withoutRequired(
  selections: readonly QueryPlanSelectionNode[],
  path: readonly string[],
  isDropped: (path: readonly string[]) => boolean,
): QueryPlanSelectionNode[] {
  return selections.flatMap((each): QueryPlanSelectionNode[] => {
    if (each.kind === 'InlineFragment') return [{ ...each, selections: withoutRequired(each.selections, path, isDropped) }];
    const at = [...path, each.name];
    if (!each.selections) return isDropped(at) ? [] : [each];
    const left = withoutRequired(each.selections, at, isDropped);
    return left.some((inner) => inner.kind === 'InlineFragment' || inner.name !== '__typename') ? [{ ...each, selections: left }] : [];
  });
}
