/** Rewrites a valid operation before it is planned, so that Apollo's planner accepts it and leaves nothing out. */
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
import { Uncovered } from '../selections/cover.ts';
import { type KeyFields, PLACEHOLDER, selectKeysInstead } from '../selections/placeholder.ts';
import { mergeRoots, requireOrder, tooManyConditions } from './merge-roots.ts';
import { MAX_DECIDED, decide, pushConditions, variablesToDecide } from './push-conditions.ts';
import { readConditions } from '../selections/selection.ts';

export interface OperationFacts extends KeyFields {
  /** The schema of clients. */
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

type Plan = PlanNode | SubscriptionNode | undefined;

/**
 * Returns the plan of a valid operation. `plan` is called with equivalent documents. Conditions that the planner would lose are replaced by their
 * values: the operation is planned once for each value. Throws a GraphQLError for a mutation that would need too many plans.
 */
export function planPatched({ document, isWhole, facts }: PlannedDocument, plan: (patched: DocumentNode) => Plan): Plan {
  const planBoth = (part: DocumentNode, condition: string, planPart: (decided: DocumentNode) => Plan): PlanNode => {
    const [ifClause, elseClause] = [true, false].map(
      (value) => planPart(decideLiterals(decide(part, condition, value))) as PlanNode | undefined,
    );
    return { kind: 'Condition', condition, ...(ifClause && { ifClause }), ...(elseClause && { elseClause }) };
  };
  const planFor = (part: DocumentNode, [variable, ...others]: readonly string[]): Plan => {
    if (variable !== undefined) return planBoth(part, variable, (decided) => planFor(pushConditions(decided), others));
    requireOrder(part);
    return planKept(keepSelections(expandAbstractConditions(part, facts)), facts, plan);
  };
  const planMerged = (part: DocumentNode, depth: number): Plan => {
    const merged = mergeRoots(part);
    if (merged.undecided !== undefined) {
      if (depth === MAX_DECIDED) throw tooManyConditions(document, MAX_DECIDED);
      return planBoth(part, merged.undecided, (decided) => planMerged(decided, depth + 1));
    }
    const pushed = pushConditions(merged.document);
    return planFor(pushed, isWhole ? [] : variablesToDecide(pushed));
  };
  return planMerged(decideLiterals(document), 0);
}

/** Plans a document with key fields in the place of placeholders when it cannot be planned with `__typename` there. */
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
 * Removes selections that literals exclude (`@skip(if: true)`) and conditions that literals meet. The planner keeps them, and then requires the
 * fields that an excluded field would require.
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
 * Replaces a fragment on an abstract type by one fragment for each object type that it can apply to, where the type around it is an interface object
 * in some subgraph. There the planner finds no path from the interface to the other abstract type; it finds one to each object type.
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
 * Adds a placeholder to every selection set of which nothing may be left. Otherwise the planner would leave out the whole field, even a mutation,
 * when no type condition can be met in a subgraph or the conditions exclude each other: its result would be null instead of an empty object.
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
