/**
 * Finds the rules of `@authenticated`, `@requiresScopes` and `@policy` on the fields of an operation, and removes the fields that a caller may not
 * read before the operation is planned: nothing is fetched for them.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  getNamedType,
  isAbstractType,
  isUnionType,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type AccessRule, isMetIn } from '../../access/access-rule.ts';
import type { Denial } from '../../access/denial.ts';
import type { AccessRules } from '../supergraph/access-directives.ts';
import { type ProtectedOperation, findDenials } from './denials.ts';
import { PLACEHOLDER } from '../selections/placeholder.ts';

/** What the fields of one operation demand of a caller. */
export interface Protection {
  /** Each rule once. */
  readonly rules: readonly AccessRule[];
  /** Returns what is left for callers with this outcome of the rules (`decideAll`). */
  filter(outcome: string): FilteredOperation;
}

export interface FilteredOperation extends ProtectedOperation {
  /** The selections that were removed, as nodes of the original operation. */
  readonly denied: ReadonlySet<FieldNode>;
  readonly denials: readonly Denial[];
}

/** Returns undefined for an operation whose fields have no rules. The operation must be valid. */
export type FindProtection = (operation: ProtectedOperation) => Protection | undefined;

/** Creates the function for a schema of clients. Operations cost nothing when the supergraph has no rules. */
export function createFindProtection(schema: GraphQLSchema, rules: AccessRules): FindProtection {
  if (rules.size === 0) return () => undefined;
  const rulesOf = createRulesOf(schema, rules);
  return (given) => {
    const found = findRules(given, { schema, rulesOf });
    if (found.byNode.size === 0) return undefined;
    const distinct = [...found.distinct.values()];
    return {
      rules: distinct,
      filter(outcome) {
        const notMet = new Map<FieldNode, readonly AccessRule[]>();
        for (const [node, indexes] of found.byNode) {
          const failed = indexes.filter((index) => !isMetIn(outcome, index)).map((index) => distinct[index] as AccessRule);
          if (failed.length > 0) notMet.set(node, failed);
        }
        const denied = new Set(notMet.keys());
        return {
          operation: withoutDenied(given.operation, denied),
          fragments: given.fragments.map((fragment) => withoutDenied(fragment, denied)),
          denied,
          denials: findDenials({ ...given, schema, notMet }),
        };
      },
    };
  };
}

type RulesOf = (parent: GraphQLCompositeType, field: string) => readonly AccessRule[];

/**
 * Returns the rules of a field selected on a type: those of the field, of the type and of the type that it returns. On an interface these are the
 * rules of every object type as well: which of them an object has is not known before it is fetched. Composition of federation 2.12 adds the same
 * rules to the interface.
 */
function createRulesOf(schema: GraphQLSchema, rules: AccessRules): RulesOf {
  const known = new Map<string, readonly AccessRule[]>();
  const ownOf = (type: GraphQLCompositeType, name: string): readonly AccessRule[] => {
    const field = isUnionType(type) ? undefined : type.getFields()[name];
    const returned = field ? getNamedType(field.type).name : '';
    return [type.name, `${type.name}.${name}`, returned].flatMap((place) => rules.get(place) ?? []);
  };
  return (parent, name) => {
    const key = `${parent.name}.${name}`;
    const cached = known.get(key);
    if (cached) return cached;
    const types = isAbstractType(parent) ? [parent, ...schema.getPossibleTypes(parent)] : [parent];
    const all = types.flatMap((type) => ownOf(type, name));
    known.set(key, all);
    return all;
  };
}

interface FoundRules {
  readonly distinct: ReadonlyMap<string, AccessRule>;
  /** Indexes into `distinct`. */
  readonly byNode: ReadonlyMap<FieldNode, readonly number[]>;
}

/** Looks at the operation and at each fragment that it spreads once: the type that a field is selected on does not depend on where that is. */
function findRules(
  { operation, fragments }: ProtectedOperation,
  { schema, rulesOf }: { schema: GraphQLSchema; rulesOf: RulesOf },
): FoundRules {
  const byName = new Map(fragments.map((each) => [each.name.value, each]));
  const entered = new Set<string>();
  const distinct = new Map<string, AccessRule>();
  const numbers = new Map<string, number>();
  const byNode = new Map<FieldNode, readonly number[]>();
  const numberOf = (rule: AccessRule): number => {
    const key = JSON.stringify(rule);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    distinct.set(key, rule);
    return number;
  };
  const look = (node: OperationDefinitionNode | FragmentDefinitionNode): void => {
    const spread: string[] = [];
    const types = new TypeInfo(schema);
    visit(
      node,
      visitWithTypeInfo(types, {
        Field(field) {
          const parent = types.getParentType();
          if (!parent || field.name.value.startsWith('__')) return;
          const rules = rulesOf(parent, field.name.value);
          if (rules.length > 0) byNode.set(field, [...new Set(rules.map(numberOf))]);
        },
        FragmentSpread: ({ name }) => void spread.push(name.value),
      }),
    );
    for (const name of spread) {
      const fragment = byName.get(name);
      if (!fragment || entered.has(name)) continue;
      entered.add(name);
      look(fragment);
    }
  };
  look(operation);
  return { distinct, byNode };
}

/** Removes fields; a selection set of which nothing is left keeps a placeholder, so that a mutation is executed and an object is found. */
function withoutDenied<T extends OperationDefinitionNode | FragmentDefinitionNode>(node: T, denied: ReadonlySet<FieldNode>): T {
  return visit(node, {
    Field: (field) => (denied.has(field) ? null : undefined),
    SelectionSet: {
      leave: (set): SelectionSetNode | undefined => (set.selections.length === 0 ? { ...set, selections: [PLACEHOLDER] } : undefined),
    },
  });
}
