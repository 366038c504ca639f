/** Splits an operation at its deferred fragments: what the first response selects, what each fragment selects, and where its objects are. */
import {
  type ConstDirectiveNode,
  type DirectiveNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isUnionType,
} from 'graphql';
import type { DeferredPart } from '../../program/deferred-program.ts';
import type { PlaceSegment } from '../../program/program.ts';
import { isPlaceholder } from '../selections/placeholder.ts';
import { type Condition, readConditions, union } from '../selections/selection.ts';

/** A deferred fragment: its objects, and its selection set without the fragments that are deferred within it. */
export interface SplitPart extends Omit<DeferredPart, 'plan'> {
  readonly type: GraphQLCompositeType;
  readonly set: SelectionSetNode;
}

export interface SplitOperation {
  /** The operation with labels that name the parts by their index: `d0`, `d1`, …, and without `@defer(if:)`. */
  readonly planned: OperationDefinitionNode;
  /** The selection set of the first response. */
  readonly first: SelectionSetNode;
  readonly parts: readonly SplitPart[];
}

/** Returns the label of a part in the planned operation. */
export function toPlannedLabel(index: number): string {
  return `d${String(index)}`;
}

/** Returns the index of the part that a label of the planned operation names. */
export function toPartIndex(label: string): number {
  return Number(label.slice(1));
}

/** The surroundings of a selection set. */
interface Around {
  /** The type of its objects by the schema, and by the fragments around it. */
  readonly type: GraphQLCompositeType;
  readonly path: readonly PlaceSegment[];
  /** The names of the types that its objects must have; undefined for any. */
  readonly types: readonly string[] | undefined;
  readonly when: readonly Condition[];
  readonly parent: number;
}

/** A selection for the planner, and the same for the writer; undefined for one that comes later. */
interface Split<T> {
  readonly planned: T;
  readonly written: T | undefined;
}

/** `operation` holds no fragment spreads and is valid. */
export function splitDeferred(schema: GraphQLSchema, operation: OperationDefinitionNode): SplitOperation {
  const parts: SplitPart[] = [];

  const splitSet = (set: SelectionSetNode, around: Around): { planned: SelectionSetNode; written: SelectionSetNode } => {
    const split = set.selections.map((each) => splitSelection(each, around));
    return {
      planned: { ...set, selections: split.map(({ planned }) => planned) },
      written: { ...set, selections: split.flatMap(({ written }) => written ?? []) },
    };
  };

  const splitSelection = (selection: SelectionNode, around: Around): Split<SelectionNode> => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error('Fragments must be expanded');
    if (selection.kind === Kind.INLINE_FRAGMENT) return splitFragment(selection, around);
    const { type, path, types } = around;
    const definition = isUnionType(type) ? undefined : type.getFields()[selection.name.value];
    const below = definition && getNamedType(definition.type);
    if (!selection.selectionSet || !isCompositeType(below))
      return { planned: selection, written: isPlaceholder(selection) ? undefined : selection };
    const key = (selection.alias ?? selection.name).value;
    // The field may be there without its conditions: where another selection of it has none.
    const when = withConditions(around.when, selection);
    const inner = { type: below, path: [...path, { key, ...(types && { types }) }], types: undefined, when, parent: around.parent };
    const { planned, written } = splitSet(selection.selectionSet, inner);
    return { planned: { ...selection, selectionSet: planned }, written: { ...selection, selectionSet: written } };
  };

  const splitFragment = (fragment: InlineFragmentNode, around: Around): Split<SelectionNode> => {
    const defer = fragment.directives?.find(({ name }) => name.value === 'defer');
    const others = fragment.directives?.filter((each) => each !== defer) ?? [];
    const inner: Around = { ...narrow(fragment, around), when: withConditions(around.when, fragment) };
    const condition = argumentOf(defer, 'if');
    if (!defer || (condition?.kind === Kind.BOOLEAN && !condition.value)) {
      const { planned, written } = splitSet(fragment.selectionSet, inner);
      const plain = { ...fragment, directives: others };
      return { planned: { ...plain, selectionSet: planned }, written: { ...plain, selectionSet: written } };
    }
    const index = parts.length;
    const label = argumentOf(defer, 'label');
    const variable = condition?.kind === Kind.VARIABLE ? condition.name.value : undefined;
    const placeholder = { ...inner, label: label?.kind === Kind.STRING ? label.value : undefined, variable, set: fragment.selectionSet };
    parts.push(placeholder);
    const { planned, written } = splitSet(fragment.selectionSet, { ...inner, parent: index });
    parts[index] = { ...placeholder, set: written };
    return {
      planned: { ...fragment, directives: [...others, labelled(index)], selectionSet: planned },
      // Without the value true of its variable the fragment is a part of what is around it.
      written: variable === undefined ? undefined : { ...fragment, directives: [...others, unless(variable)], selectionSet: written },
    };
  };

  const narrow = ({ typeCondition }: InlineFragmentNode, around: Around): Around => {
    const named = typeCondition && schema.getType(typeCondition.name.value);
    if (!isCompositeType(named) || named === around.type) return around;
    if (!isAbstractType(around.type)) return around;
    const possible = (type: GraphQLCompositeType) =>
      isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [type.name];
    const allowed = around.types ?? possible(around.type);
    return { ...around, type: named, types: allowed.filter((name) => possible(named).includes(name)) };
  };

  const root = schema.getRootType(operation.operation);
  if (!root) throw new Error('The schema has no such root type');
  const { planned, written } = splitSet(operation.selectionSet, { type: root, path: [], types: undefined, when: [], parent: -1 });
  return { planned: { ...operation, selectionSet: planned }, first: written, parts };
}

function withConditions(around: readonly Condition[], selection: SelectionNode): readonly Condition[] {
  const own = readConditions(selection);
  return own === 'never' ? around : union(around, own);
}

function argumentOf(directive: DirectiveNode | undefined, name: string) {
  return directive?.arguments?.find((each) => each.name.value === name)?.value;
}

function labelled(index: number): ConstDirectiveNode {
  const value = { kind: Kind.STRING, value: toPlannedLabel(index) } as const;
  return toDirective('defer', { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'label' }, value }) as ConstDirectiveNode;
}

function unless(variable: string): DirectiveNode {
  const value = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: variable } } as const;
  return toDirective('skip', { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'if' }, value });
}

function toDirective(name: string, argument: NonNullable<DirectiveNode['arguments']>[number]): DirectiveNode {
  return { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name }, arguments: [argument] };
}
