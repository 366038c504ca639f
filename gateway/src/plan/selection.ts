/** Collects a selection set's fields for one runtime type (GraphQL §6.3.2), with the conditions under which each is asked for. */
import {
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

/** All of these must hold: `@include` by a variable, or `@skip` by one that must not be true. */
export interface Condition {
  readonly variable: string;
  readonly isTrue: boolean;
}

/** Selection sets that are merged into one, each with what must hold for it. */
export interface GuardedSet {
  readonly set: SelectionSetNode;
  readonly when: readonly Condition[];
}

export interface CollectedField {
  readonly key: string;
  readonly name: string;
  /** Nothing for `__typename` and the introspection fields. */
  readonly type: GraphQLOutputType | undefined;
  /** The ways by which it is asked for; one without conditions means always. */
  readonly when: (readonly Condition[])[];
  readonly sets: GuardedSet[];
  readonly nodes: FieldNode[];
}

export interface Selections {
  collect(type: GraphQLNamedType, sets: readonly GuardedSet[]): CollectedField[];
}

export function createSelections(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>): Selections {
  /** Whether an object of this type meets a type condition; also for an interface that stands for objects nobody knows. */
  const isOf = (type: GraphQLNamedType, condition: string | undefined): boolean => {
    if (condition === undefined || condition === type.name) return true;
    const wanted = schema.getType(condition);
    return (
      wanted !== undefined && isAbstractType(wanted) && (isObjectType(type) || isInterfaceType(type)) && schema.isSubType(wanted, type)
    );
  };
  const collect = (type: GraphQLNamedType, sets: readonly GuardedSet[], fields: Map<string, CollectedField>) => {
    for (const { set, when } of sets) {
      for (const selection of set.selections) {
        const own = readConditions(selection);
        if (own === 'never') continue;
        const all = [...when, ...own];
        if (isContradiction(all)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const name = selection.name.value;
          const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
          if (!definition && !name.startsWith('__')) continue;
          const field: CollectedField = fields.get(key) ?? { key, name, type: definition?.type, when: [], sets: [], nodes: [] };
          fields.set(key, field);
          field.when.push(all);
          field.nodes.push(selection);
          if (selection.selectionSet) field.sets.push({ set: selection.selectionSet, when: all });
          continue;
        }
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        if (fragment && isOf(type, fragment.typeCondition?.name.value)) collect(type, [{ set: fragment.selectionSet, when: all }], fields);
      }
    }
    return fields;
  };
  return {
    collect: (type, sets) =>
      Array.from(collect(type, sets, new Map()).values(), (field) =>
        // What is asked for in one way only has met its conditions by the time its own fields are looked at.
        field.when.length === 1 ? { ...field, sets: field.sets.map(({ set }) => ({ set, when: [] })) } : field,
      ),
  };
}

function isContradiction(conditions: readonly Condition[]): boolean {
  return conditions.some(({ variable, isTrue }) => isTrue && conditions.some((other) => other.variable === variable && !other.isTrue));
}

/** A selection's own conditions; those by literals are decided here. */
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
