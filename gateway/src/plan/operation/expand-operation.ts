/**
 * Writes an operation without fragment spreads for the planner. Equal selections in one selection set are merged, so that the time of planning depends
 * on the number of different selections and not on how often fragments spread each other. Each fragment with `@defer` stays one fragment of its own,
 * because clients get it as one. Limits the number of selections that are left.
 */
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isUnionType,
  print,
} from 'graphql';
import { PLACEHOLDER, isPlaceholder } from '../selections/placeholder.ts';
import { type BranchesByDefer, DEFER, type DeferringBranch, addDeferred, findDefer } from './deferred-branches.ts';
import { type Condition, isContradiction, readConditions, toDirective, union } from '../selections/selection.ts';

export interface ExpandInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  /** The largest number of selections that may be left. */
  readonly maxSelections: number;
}

export interface ExpandedOperation {
  /** Holds no fragment spreads, and no `__schema` and `__type`, which no subgraph resolves. */
  readonly operation: OperationDefinitionNode;
  /** The number of its selections. */
  readonly selections: number;
  /** What `maxSelections` limits: the same, or more where many selections were merged. */
  readonly effort: number;
}

/** Looking at a selection that is merged counts as this fraction of a selection that is kept. */
const LOOKS_PER_SELECTION = 50;

/** The objects of a selection set. */
interface Around {
  readonly type: GraphQLCompositeType;
  /** Names of the object types that meet the type conditions. */
  readonly possible: readonly string[];
  readonly conditions: readonly Condition[];
}

/** Fields of one selection set with the same type conditions and directives around them. */
interface Branch extends DeferringBranch {
  readonly type: GraphQLCompositeType;
  /** The type conditions around the fields, the outermost first. */
  readonly typeConditions: readonly string[];
  readonly fields: Map<string, BranchField>;
  readonly entered: Set<string>;
}

/** The branches of one selection set. */
interface Branches {
  readonly byKey: Map<string, Branch>;
  readonly byDefer: BranchesByDefer;
}

interface BranchField {
  readonly node: FieldNode;
  readonly sets: SelectionSetNode[];
  /** The position of its first selection among the fields of the operation. */
  readonly place: number;
}

/** Returns the operation, which must be valid, without fragment spreads. Throws a GraphQLError when more than `maxSelections` selections would be left. */
export function expandOperation(input: ExpandInput): ExpandedOperation {
  const { schema, operation } = input;
  const root = schema.getRootType(operation.operation);
  if (!root) throw new GraphQLError(`The schema has no ${operation.operation} type`, { nodes: [operation] });
  const expander = new OperationExpander(input);
  const isSerial = operation.operation === OperationTypeNode.MUTATION;
  return {
    operation: { ...operation, selectionSet: expander.expandSets(expander.anyOf(root), [operation.selectionSet], isSerial) },
    selections: expander.selections,
    effort: expander.effort,
  };
}

/** Expands the selection sets of one operation, and counts their selections. */
class OperationExpander {
  readonly #input: ExpandInput;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #selections = 0;
  #looks = 0;

  constructor(input: ExpandInput) {
    this.#input = input;
    this.#fragments = new Map(input.fragments.map((each) => [each.name.value, each]));
  }

  /** The number of selections that have been kept. */
  get selections(): number {
    return this.#selections;
  }

  get effort(): number {
    return Math.max(this.#selections, Math.ceil(this.#looks / LOOKS_PER_SELECTION));
  }

  /** Returns all objects of a type. */
  anyOf(type: GraphQLCompositeType): Around {
    const possible = isAbstractType(type) ? this.#input.schema.getPossibleTypes(type).map(({ name }) => name) : [type.name];
    return { type, possible, conditions: [] };
  }

  /**
   * Returns the selection sets, all of them on the same objects, as one. Its fields are in the order of the document when they are executed serially
   * (GraphQL §6.2.2); otherwise those with the same conditions are together.
   */
  expandSets(around: Around, sets: readonly SelectionSetNode[], isSerial = false): SelectionSetNode {
    const root: Branch = { ...around, directives: [], typeConditions: [], fields: new Map(), deferred: [], entered: new Set() };
    const branches: Branches = { byKey: new Map([['', root]]), byDefer: new Map() };
    for (const set of sets) this.#look(set, root, branches);
    const parts = [...branches.byKey.values()].flatMap((branch) => {
      const fields = [...branch.fields.values()];
      return isSerial ? fields.map((field) => ({ branch, fields: [field] })) : [{ branch, fields }];
    });
    if (isSerial) parts.sort((one, other) => (one.fields[0]?.place ?? 0) - (other.fields[0]?.place ?? 0));
    // No root field of a mutation is deferred.
    const written = parts.flatMap(({ branch, fields }) =>
      this.#wrap(branch, around, [...this.#writeFields(branch, fields), ...this.#writeDeferred(branch)]),
    );
    return { kind: Kind.SELECTION_SET, selections: written.length > 0 ? written : [PLACEHOLDER] };
  }

  #count(isKept: boolean): void {
    const { maxSelections, operation } = this.#input;
    if (isKept) this.#selections++;
    else this.#looks++;
    if (this.#selections > maxSelections || this.#looks > maxSelections * LOOKS_PER_SELECTION)
      throw new GraphQLError(
        `The operation has more than ${String(maxSelections)} selections when its fragments are expanded. Select fewer fields or conditions.`,
        { nodes: [operation], extensions: { code: 'VALIDATION_ERROR' } },
      );
  }

  /** Adds the fields of a selection set to their branches. */
  #look(set: SelectionSetNode, branch: Branch, branches: Branches): void {
    for (const selection of set.selections) {
      this.#count(false);
      const own = readConditions(selection);
      if (own === 'never') continue;
      if (selection.kind === Kind.FIELD) {
        if (!isContradiction(union(branch.conditions, own))) this.#addField(branch, withoutDecided(selection));
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      const next = fragment && this.#enter(branch, { selection, own, typeCondition: fragment.typeCondition?.name.value }, branches);
      if (!next) continue;
      const directive = findDefer(selection);
      if (directive) {
        addDeferred(next, { directive, set: fragment.selectionSet }, branches.byDefer);
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (next.entered.has(selection.name.value)) continue;
        next.entered.add(selection.name.value);
      }
      this.#look(fragment.selectionSet, next, branches);
    }
  }

  /** Returns the branch of a fragment; undefined when no object can meet its type conditions. */
  #enter(from: Branch, { selection, own, typeCondition }: FragmentUse, { byKey }: Branches): Branch | undefined {
    const { schema } = this.#input;
    const conditions = union(from.conditions, own);
    if (isContradiction(conditions)) return undefined;
    const named = typeCondition === undefined ? undefined : schema.getType(typeCondition);
    const isNarrower = isCompositeType(named) && !isImplied(schema, named, from.type);
    const others = (selection.directives ?? []).filter(isOther);
    if (!isNarrower && others.length === 0 && conditions.length === from.conditions.length) return from;
    const possible = isNarrower ? from.possible.filter((name) => isPossible(schema, named, name)) : from.possible;
    if (possible.length === 0) return undefined;
    const type = isNarrower ? named : from.type;
    const directives = [...from.directives, ...others];
    const key = `${type.name}|${possible.join()}|${conditions.map(keyOf).sort().join()}|${directives.map(print).join()}`;
    const known = byKey.get(key);
    if (known) return known;
    const typeConditions = isNarrower ? [...from.typeConditions, named.name] : from.typeConditions;
    const branch: Branch = { type, possible, conditions, directives, typeConditions, fields: new Map(), deferred: [], entered: new Set() };
    byKey.set(key, branch);
    return branch;
  }

  #addField({ fields }: Branch, node: FieldNode): void {
    if (node.name.value === '__schema' || node.name.value === '__type') return;
    const key = `${node.alias?.value ?? node.name.value} ${(node.directives ?? []).map(print).sort().join()}`;
    const known = fields.get(key);
    if (known) {
      if (node.selectionSet) known.sets.push(node.selectionSet);
      return;
    }
    this.#count(true);
    fields.set(key, { node, sets: node.selectionSet ? [node.selectionSet] : [], place: this.#looks });
  }

  #writeFields({ type }: Branch, fields: readonly BranchField[]): FieldNode[] {
    return fields.map(({ node, sets }) => {
      const definition = isUnionType(type) ? undefined : type.getFields()[node.name.value];
      const below = definition && getNamedType(definition.type);
      return isCompositeType(below) ? { ...node, selectionSet: this.expandSets(this.anyOf(below), sets) } : node;
    });
  }

  #writeDeferred(branch: Branch): InlineFragmentNode[] {
    return branch.deferred.flatMap(({ directive, set }) => {
      const selectionSet = this.expandSets(branch, [set]);
      if (selectionSet.selections.every(isPlaceholder)) return [];
      this.#count(true);
      return [{ kind: Kind.INLINE_FRAGMENT, directives: [directive], selectionSet }];
    });
  }

  /** Puts selections into fragments with the type conditions, conditions and directives of their branch. A directive may occur once in each fragment. */
  #wrap(
    { typeConditions, conditions, directives }: Branch,
    { conditions: known }: Around,
    selections: readonly SelectionNode[],
  ): readonly SelectionNode[] {
    if (selections.length === 0) return [];
    const layers: Partial<InlineFragmentNode>[] = [
      ...typeConditions.map((name) => ({ typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } } }) as const),
      ...[...conditions.slice(known.length).map(toDirective), ...directives].map((directive) => ({ directives: [directive] })),
    ];
    return layers.reduceRight<readonly SelectionNode[]>((selected, layer) => {
      this.#count(true);
      return [{ kind: Kind.INLINE_FRAGMENT, ...layer, selectionSet: { kind: Kind.SELECTION_SET, selections: selected } }];
    }, selections);
  }
}

/** A fragment in a branch. */
interface FragmentUse {
  readonly selection: SelectionNode;
  readonly own: readonly Condition[];
  readonly typeCondition: string | undefined;
}

/** Whether every object of a type meets a type condition because of the interfaces that the type implements. */
function isImplied(schema: GraphQLSchema, condition: GraphQLCompositeType, type: GraphQLCompositeType): boolean {
  return condition === type || (isAbstractType(condition) && !isUnionType(type) && schema.isSubType(condition, type));
}

function isPossible(schema: GraphQLSchema, condition: GraphQLCompositeType, name: string): boolean {
  return isAbstractType(condition) ? schema.getPossibleTypes(condition).some((each) => each.name === name) : condition.name === name;
}

function isOther({ name }: DirectiveNode): boolean {
  return name.value !== 'skip' && name.value !== 'include' && name.value !== DEFER;
}

/** Removes conditions with a literal, which are met. */
function withoutDecided(node: FieldNode): FieldNode {
  const { directives = [] } = node;
  if (directives.length === 0) return node;
  return { ...node, directives: directives.filter((each) => isOther(each) || each.arguments?.[0]?.value.kind === Kind.VARIABLE) };
}

function keyOf({ variable, isTrue }: Condition): string {
  return `${isTrue ? '' : '!'}${variable}`;
}
