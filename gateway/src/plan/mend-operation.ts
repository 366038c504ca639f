/** Rewrites a valid operation before it is planned, so that the planner leaves nothing of it out and takes every part of it. */
import type { PlanNode, SubscriptionNode } from '@apollo/query-planner';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  isAbstractType,
  isInterfaceType,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { Uncovered } from './cover.ts';
import { type KeyFields, PLACEHOLDER, selectKeysInstead } from './placeholder.ts';
import { decide, pushConditions, variablesToDecide } from './push-conditions.ts';
import { readConditions } from './selection.ts';

export interface OperationFacts extends KeyFields {
  /** The schema that the planner plans for: the clients' one with the stand-ins of `mend-supergraph.ts`. */
  readonly schema: GraphQLSchema;
  /** Names of the interfaces that some subgraph defines as `@interfaceObject`. */
  readonly interfaceObjects: ReadonlySet<string>;
}

export interface PlannedDocument {
  /** One operation without fragment spreads. */
  readonly document: DocumentNode;
  /** Whether it needs one plan for all values of its variables, as a subscription does. */
  readonly isWhole: boolean;
  readonly facts: OperationFacts;
}

/**
 * Returns the plan of a valid operation, made by `plan` of documents that have the same result. Conditions that the planner would lose are decided
 * beforehand: each of their values has a plan of its own.
 */
export function planMended(
  { document, isWhole, facts }: PlannedDocument,
  plan: (mended: DocumentNode) => PlanNode | SubscriptionNode | undefined,
): PlanNode | SubscriptionNode | undefined {
  const decided = pushConditions(decideLiterals(document));
  const variables = isWhole ? [] : variablesToDecide(decided);
  const planFor = (part: DocumentNode, [variable, ...others]: readonly string[]): PlanNode | SubscriptionNode | undefined => {
    if (variable === undefined) return planKept(keepSelections(expandAbstractConditions(part, facts)), facts, plan);
    const [ifClause, elseClause] = [true, false].map(
      (value) => planFor(pushConditions(decideLiterals(decide(part, variable, value))), others) as PlanNode | undefined,
    );
    return { kind: 'Condition', condition: variable, ...(ifClause && { ifClause }), ...(elseClause && { elseClause }) };
  };
  return planFor(decided, variables);
}

/** Plans a document once more with other placeholders when there is no plan that has the type of an object for them. */
function planKept<T>(document: DocumentNode, facts: OperationFacts, plan: (document: DocumentNode) => T): T {
  try {
    return plan(document);
  } catch (error) {
    const other = error instanceof Uncovered ? selectKeysInstead(document, facts) : undefined;
    if (!other) throw error;
    return plan(other);
  }
}

/**
 * Removes what literals exclude (`@skip(if: true)`) and the conditions that literals meet. The planner keeps them, and requires of a representation
 * what a field that is never included would require.
 */
function decideLiterals(document: DocumentNode): DocumentNode {
  const decide = <T extends SelectionNode>(selection: T): T | null | undefined => {
    if (!selection.directives?.length) return undefined;
    if (readConditions(selection) === 'never') return null;
    const directives = selection.directives.filter(
      ({ name, arguments: given = [] }) => (name.value !== 'skip' && name.value !== 'include') || given[0]?.value.kind !== Kind.BOOLEAN,
    );
    return directives.length < selection.directives.length ? { ...selection, directives } : undefined;
  };
  return visit(document, {
    Field: decide<FieldNode>,
    InlineFragment: decide<InlineFragmentNode>,
    SelectionSet: { leave: (set) => (set.selections.length === 0 ? { ...set, selections: [PLACEHOLDER] } : undefined) },
  });
}

/**
 * Puts a fragment on an abstract type into one fragment for each object type that it can apply to, where the object's interface is an interface
 * object in some subgraph: there the planner finds no way from the one type to the other. It finds one from the interface to each object type.
 */
function expandAbstractConditions(document: DocumentNode, { schema, interfaceObjects }: OperationFacts): DocumentNode {
  if (interfaceObjects.size === 0) return document;
  const expand = (selection: SelectionNode, parentName: string): readonly SelectionNode[] => {
    const condition = selection.kind === Kind.INLINE_FRAGMENT ? selection.typeCondition?.name.value : undefined;
    const parent = schema.getType(parentName);
    const wanted = condition === undefined || condition === parentName ? undefined : schema.getType(condition);
    if (!isInterfaceType(parent) || !isAbstractType(wanted)) return [selection];
    return schema
      .getPossibleTypes(parent)
      .filter((type) => schema.isSubType(wanted, type))
      .map(({ name }) => ({
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
        selectionSet: { kind: Kind.SELECTION_SET, selections: [selection] },
      }));
  };
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet: {
        leave(set): SelectionSetNode | undefined {
          const parent = types.getParentType();
          if (!parent || !interfaceObjects.has(parent.name)) return undefined;
          return { ...set, selections: set.selections.flatMap((each) => expand(each, parent.name)) };
        },
      },
    }),
  );
}

/**
 * Asks for `__typename` in every selection set of which nothing may be left: where its type conditions can't be met in a subgraph, or its conditions
 * exclude each other, the planner would leave out the whole field, even a mutation, and its result would be null instead of an empty object.
 */
function keepSelections(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field: {
      leave(field): FieldNode | undefined {
        const set = field.selectionSet;
        if (!set || set.selections.some((selection) => selection.kind === Kind.FIELD && readConditions(selection).length === 0))
          return undefined;
        return { ...field, selectionSet: { ...set, selections: [PLACEHOLDER, ...set.selections] } };
      },
    },
  });
}
