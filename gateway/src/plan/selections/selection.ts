/** Collects a selection set's fields for one runtime type (GraphQL §6.3.2), with the conditions under which each is selected. */
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  isAbstractType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { Condition } from '../../program/cache-rule.ts';

export type { Condition };

/** A selection set to be merged with others, and the conditions that must all hold for it. */
export interface GuardedSet {
  readonly set: SelectionSetNode;
  readonly when: readonly Condition[];
}

export interface CollectedField {
  readonly key: string;
  readonly name: string;
  /** Undefined for `__typename` and the introspection fields. */
  readonly type: GraphQLOutputType | undefined;
  /** The conditions of each of its selections; a selection without conditions is always included. */
  readonly when: (readonly Condition[])[];
  /** The position of each of its selections among all fields of the set, in the order of the document. */
  readonly places: number[];
  readonly sets: GuardedSet[];
  readonly nodes: FieldNode[];
}

export interface Selections {
  /** Returns the fields by response key, in the order of their first occurrence in the document. */
  collect(type: GraphQLNamedType, sets: readonly GuardedSet[]): CollectedField[];
}

/** One collection: the fields found so far, and the conditions under which each fragment was entered. */
interface Collection {
  readonly fields: Map<string, CollectedField>;
  readonly entered: Map<string, (readonly Condition[])[]>;
  place: number;
}

export function createSelections(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>): Selections {
  /** Whether an object of this type meets a type condition. The type is an interface for an object whose type is not known. */
  const isOf = (type: GraphQLNamedType, condition: string | undefined): boolean => {
    if (condition === undefined || condition === type.name) return true;
    const wanted = schema.getType(condition);
    return (
      wanted !== undefined && isAbstractType(wanted) && (isObjectType(type) || isInterfaceType(type)) && schema.isSubType(wanted, type)
    );
  };
  const addField = (type: GraphQLNamedType, { node, when }: { node: FieldNode; when: readonly Condition[] }, collection: Collection) => {
    const key = node.alias?.value ?? node.name.value;
    const name = node.name.value;
    const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (!definition && !name.startsWith('__')) return;
    const known = collection.fields.get(key);
    const field: CollectedField = known ?? { key, name, type: definition?.type, when: [], places: [], sets: [], nodes: [] };
    if (!known) collection.fields.set(key, field);
    field.when.push(when);
    field.places.push(collection.place++);
    field.nodes.push(node);
    if (node.selectionSet) field.sets.push({ set: node.selectionSet, when });
  };
  const collect = (type: GraphQLNamedType, { set, when }: GuardedSet, collection: Collection) => {
    for (const selection of set.selections) {
      const own = readConditions(selection);
      if (own === 'never') continue;
      const all = own.length === 0 ? when : union(when, own);
      if (isContradiction(all)) continue;
      if (selection.kind === Kind.FIELD) {
        addField(type, { node: selection, when: all }, collection);
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD && isEntered(selection.name.value, all, collection)) continue;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (fragment && isOf(type, fragment.typeCondition?.name.value)) collect(type, { set: fragment.selectionSet, when: all }, collection);
    }
  };
  return {
    collect(type, sets) {
      const collection: Collection = { fields: new Map(), entered: new Map(), place: 0 };
      for (const each of sets) collect(type, each, collection);
      return Array.from(collection.fields.values(), (field) =>
        // The conditions of a field with one selection have been checked before its own fields are looked at.
        field.when.length === 1 ? { ...field, sets: field.sets.map(({ set }) => ({ set, when: [] })) } : field,
      );
    },
  };
}

/**
 * Whether a fragment was visited before under conditions that hold whenever these hold; then it has no new fields (GraphQL §6.3.2,
 * `visitedFragments`). Otherwise records the visit.
 */
function isEntered(name: string, when: readonly Condition[], { entered }: Collection): boolean {
  const before = entered.get(name) ?? [];
  if (before.some((all) => all.every((one) => when.some((other) => isSame(one, other))))) return true;
  entered.set(name, [...before, when]);
  return false;
}

/** Whether two conditions hold for the same value of the same variable. */
export function isSame(one: Condition, other: Condition): boolean {
  return one.variable === other.variable && one.isTrue === other.isTrue;
}

/** Returns the conditions of both lists, each once. */
export function union(some: readonly Condition[], others: readonly Condition[]): readonly Condition[] {
  return [...some, ...others.filter((other) => !some.some((one) => isSame(one, other)))];
}

export function isContradiction(conditions: readonly Condition[]): boolean {
  return conditions.some(({ variable, isTrue }) => isTrue && conditions.some((other) => other.variable === variable && !other.isTrue));
}

/** Returns a condition as a directive. */
export function toDirective({ variable, isTrue }: Condition): DirectiveNode {
  const value = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: variable } } as const;
  return {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: isTrue ? 'include' : 'skip' },
    arguments: [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'if' }, value }],
  };
}

/** Whether all conditions hold for these variables. */
export function areMet(conditions: readonly Condition[], variables: Readonly<Record<string, unknown>>): boolean {
  return conditions.every(({ variable, isTrue }) => variables[variable] === isTrue);
}

/** Returns a selection's own conditions with variables; `never` when a literal excludes it. */
export function readConditions({ directives = [] }: SelectionNode | OperationDefinitionNode): Condition[] | 'never' {
  const conditions: Condition[] = [];
  for (const { name, arguments: given = [] } of directives) {
    if (name.value !== 'skip' && name.value !== 'include') continue;
    const isTrue = name.value === 'include';
    const value = given[0]?.value;
    if (value?.kind === Kind.VARIABLE) conditions.push({ variable: value.name.value, isTrue });
    else if (value?.kind === Kind.BOOLEAN && value.value !== isTrue) return 'never';
  }
  return conditions;
}

/** Returns a function that gives equal keys to equal lists of selection sets with equal conditions. */
export function createKeys(): (guarded: readonly GuardedSet[]) => string {
  const ids = new Map<unknown, number>();
  return (guarded) =>
    guarded
      .map(({ set, when }) => {
        const id = ids.get(set) ?? ids.size;
        ids.set(set, id);
        return `${String(id)}${when.map(({ variable, isTrue }) => `${isTrue ? '+' : '-'}${variable}`).join('')}`;
      })
      .join();
}
