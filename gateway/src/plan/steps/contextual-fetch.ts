/** Compiles the contextual arguments of a fetch (`@fromContext`, federation 2.8): where their values are, and the document for several values. */
import type { FetchNode } from '@apollo/query-planner';
import {
  type DirectiveNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
  parse,
  print,
  stripIgnoredCharacters,
  visit,
} from 'graphql';
import type { ContextCondition, ContextFetch, ContextSource, ContextUse, ContextVariable } from '../../program/context-fetch.ts';
import { UNRESOLVABLE, Uncovered } from '../selections/cover.ts';
import { REPRESENTATIONS } from '../selections/reserved-variables.ts';
import { ON, typesOf } from '../selections/type-names.ts';

/** One level up, in the path of a rewrite. */
const UP = '..';

/** The fetch, and its document with the names that the subgraph defines. */
interface ContextualNode {
  readonly node: Pick<FetchNode, 'serviceName' | 'contextRewrites'>;
  readonly operation: string;
}

/** Returns what a fetch gets from the objects above its entities; undefined when it has no contextual arguments. Throws Uncovered for an invalid plan. */
export function compileContexts({ node, operation }: ContextualNode, schema: GraphQLSchema): ContextFetch | undefined {
  if (!node.contextRewrites?.length) return undefined;
  const [definition] = parse(operation, { noLocation: true }).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`The plan has a document that is not known here: ${operation}`);
  const sources = new Map<string, ContextSource[]>();
  for (const { path, renameKeyTo } of node.contextRewrites)
    sources.set(renameKeyTo, [...(sources.get(renameKeyTo) ?? []), toSource(path, schema)]);
  const uses = findUses(definition.selectionSet, { ...EVERYWHERE, schema });
  const variables = (definition.variableDefinitions ?? []).flatMap((each): ContextVariable[] => {
    const name = each.variable.name.value;
    const own = sources.get(name);
    const found = uses.filter((use) => use.name === name).map(({ types, conditions }) => ({ types, conditions }));
    const isNonNull = each.type.kind === Kind.NON_NULL_TYPE;
    return own ? [{ name, isNonNull, uses: found, sources: own }] : [];
  });
  // The planner names variables by argument: an argument with objects of two levels would get the value of one of them.
  const levels = variables.find(({ sources: [first, ...others] }) => others.some(({ up }) => up !== first?.up));
  if (levels) throw new Uncovered(UNRESOLVABLE, { cause: `${node.serviceName}: one fetch needs $${levels.name} of several objects` });
  return { variables, ...toTemplate(definition, new Set(variables.map(({ name }) => name))) };
}

interface Use extends ContextUse {
  readonly name: string;
}

interface Around extends ContextUse {
  /** How many fields are around: none for `_entities`, one for fields of entities. */
  readonly depth: number;
}

const EVERYWHERE: Around = { types: undefined, conditions: [], depth: 0 };

/** Returns the variables of arguments, each with the types of entities and the conditions that apply there. */
function findUses({ selections }: SelectionSetNode, around: Around & { readonly schema: GraphQLSchema }): Use[] {
  return selections.flatMap((selection): Use[] => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    const conditions = [...around.conditions, ...(selection.directives ?? []).flatMap(toCondition)];
    const isField = selection.kind === Kind.FIELD;
    const types = isField ? around.types : narrow(around, selection.typeCondition?.name.value);
    const depth = around.depth + (isField ? 1 : 0);
    const below = selection.selectionSet ? findUses(selection.selectionSet, { ...around, types, conditions, depth }) : [];
    if (!isField) return below;
    const own = (selection.arguments ?? []).flatMap(({ value }) =>
      value.kind === Kind.VARIABLE ? [{ name: value.name.value, types, conditions }] : [],
    );
    return [...own, ...below];
  });
}

/** Returns the types of entities within a fragment. One below a field of an entity says nothing about the entity. */
function narrow({ types, depth, schema }: Around & { readonly schema: GraphQLSchema }, condition: string | undefined) {
  if (depth !== 1 || condition === undefined) return types;
  const named = typesOf(schema, condition);
  return types ? types.filter((type) => named.includes(type)) : named;
}

function toCondition({ name, arguments: [given] = [] }: DirectiveNode): ContextCondition[] {
  if (given?.value.kind !== Kind.VARIABLE || (name.value !== 'include' && name.value !== 'skip')) return [];
  return [{ variable: given.value.name.value, isIncluded: name.value === 'include' }];
}

/** Throws Uncovered for a fetch with a contextual argument for which the plan has no value. */
export function requireContexts(names: readonly string[], contexts: ContextFetch | undefined): void {
  const missing = names.find((name) => CONTEXTUAL.test(name) && !contexts?.variables.some((each) => each.name === name));
  if (missing !== undefined) throw new Uncovered(UNRESOLVABLE, { cause: `The plan has no value for $${missing}` });
}

/** The planner's variables for contextual arguments: `contextualArgument_2_0` is the first one of the second subgraph. */
export const CONTEXTUAL = /^contextualArgument_\d/;

function toSource(path: readonly string[], schema: GraphQLSchema): ContextSource {
  const up = path.findIndex((segment) => segment !== UP);
  if (up < 0) throw new Error(`The plan has a context that is not known here: ${path.join('.')}`);
  return {
    up,
    path: path
      .slice(up)
      .map((segment) => (segment.startsWith(ON) ? { types: typesOf(schema, segment.slice(ON.length)) } : { key: segment })),
  };
}

/** Returns the document of a fetch as texts between which the number of a group of entities stands. */
function toTemplate(operation: OperationDefinitionNode, contextual: ReadonlySet<string>): Omit<ContextFetch, 'variables'> {
  const { variableDefinitions = [], directives = [], name, selectionSet } = operation;
  const isOwn = (each: string) => each === REPRESENTATIONS || contextual.has(each);
  const text = print(operation);
  let mark = '__g';
  while (text.includes(mark)) mark += '_';
  const number = <T extends VariableDefinitionNode | OperationDefinitionNode['selectionSet']>(node: T): T =>
    visit(node, {
      Variable: (variable) =>
        isOwn(variable.name.value) ? { ...variable, name: { ...variable.name, value: `${variable.name.value}_${mark}` } } : undefined,
    });
  const [entities] = selectionSet.selections;
  if (entities?.kind !== Kind.FIELD || selectionSet.selections.length > 1)
    throw new Error(`The plan has a document that is not known here: ${text}`);
  const aliased = { ...entities, alias: { kind: Kind.NAME, value: `_${mark}` } } as const;
  const write = (node: Parameters<typeof print>[0]) => stripIgnoredCharacters(print(node));
  const [own, shared] = [true, false].map((wanted) =>
    variableDefinitions.filter(({ variable }) => isOwn(variable.name.value) === wanted),
  ) as [VariableDefinitionNode[], VariableDefinitionNode[]];
  return {
    start: `query ${name?.value ?? ''}(${shared.map(write).join(' ')} `,
    definitions: own
      .map((each) => write(number(each)))
      .join(' ')
      .split(mark),
    middle: `)${directives.map(write).join(' ')}{`,
    entities: write(number({ kind: Kind.SELECTION_SET, selections: [aliased] }))
      .slice(1, -1)
      .split(mark),
  };
}
