/** Finds where the fields that were removed from an operation stand in its response, for the errors of the result. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isUnionType,
} from 'graphql';
import type { AccessRule } from '../../access/access-rule.ts';
import type { Denial } from '../../access/denial.ts';
import { toResponseKey } from '../../program/response-key.ts';
import { type Condition, isContradiction, readConditions, union } from '../selections/selection.ts';

/** An operation and the fragments of its document. */
export interface ProtectedOperation {
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
}

export interface DenialSearch extends ProtectedOperation {
  readonly schema: GraphQLSchema;
  /** The fields that were removed, with the rules that are not met. */
  readonly notMet: ReadonlyMap<FieldNode, readonly AccessRule[]>;
}

/** The most denials of one operation: further ones have no error of their own. */
const MAX_DENIALS = 100;
/** The most places that are looked at: fragments may spread each other in very many ways. */
const MAX_PLACES = 10_000;

/** Stands in paths for each item of a list, as in the errors of Apollo's Router: which items there are is not known. */
const EVERY_ITEM = '@';

interface Place {
  readonly parent: GraphQLCompositeType;
  readonly path: readonly string[];
  readonly when: readonly Condition[];
}

/** Returns each removed field once for each path, in the order of the document; of removed fields inside each other the outermost. */
export function findDenials(search: DenialSearch): Denial[] {
  const root = search.schema.getRootType(search.operation.operation);
  if (!root || search.notMet.size === 0) return [];
  const finder = new DenialFinder(search);
  finder.look(search.operation.selectionSet, { parent: root, path: [], when: [] });
  return finder.found;
}

class DenialFinder {
  readonly #search: DenialSearch;
  readonly #fragments: ReadonlyMap<string, SelectionSetNode>;
  readonly #typeConditions: ReadonlyMap<string, string>;
  readonly #contains = new Map<SelectionSetNode, boolean>();
  readonly #found = new Map<string, Denial & { readonly when: (readonly Condition[])[] }>();
  /** Selection sets that were looked at, each with its path and its conditions. */
  readonly #seen = new Map<SelectionSetNode, Set<string>>();
  #places = 0;

  constructor(search: DenialSearch) {
    this.#search = search;
    this.#fragments = new Map(search.fragments.map((each) => [each.name.value, each.selectionSet]));
    this.#typeConditions = new Map(search.fragments.map((each) => [each.name.value, each.typeCondition.name.value]));
  }

  get found(): Denial[] {
    return [...this.#found.values()];
  }

  look(set: SelectionSetNode, place: Place): void {
    if (this.#found.size >= MAX_DENIALS || this.#places++ >= MAX_PLACES || !this.#holdsDenied(set) || this.#isSeen(set, place)) return;
    for (const selection of set.selections) {
      const own = readConditions(selection);
      const when = own === 'never' ? undefined : union(place.when, own);
      if (!when || isContradiction(when)) continue;
      if (selection.kind === Kind.FIELD) {
        this.#lookAtField(selection, { ...place, when });
        continue;
      }
      const { schema } = this.#search;
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = isSpread ? this.#fragments.get(selection.name.value) : selection.selectionSet;
      const condition = isSpread ? this.#typeConditions.get(selection.name.value) : selection.typeCondition?.name.value;
      const narrowed = condition === undefined ? place.parent : schema.getType(condition);
      if (inner && isCompositeType(narrowed)) this.look(inner, { ...place, parent: narrowed, when });
    }
  }

  #lookAtField(field: FieldNode, { parent, path, when }: Place): void {
    const key = toResponseKey(field.alias?.value ?? field.name.value);
    const own = [...path, key];
    const rules = this.#search.notMet.get(field);
    if (rules) {
      this.#add({ path: own, coordinate: `${parent.name}.${field.name.value}`, rules }, when);
      return;
    }
    const definition = isUnionType(parent) ? undefined : parent.getFields()[field.name.value];
    const below = definition && getNamedType(definition.type);
    if (!definition || !field.selectionSet || !isCompositeType(below)) return;
    const isList = isListType(getNullableType(definition.type));
    this.look(field.selectionSet, { parent: below, path: isList ? [...own, EVERY_ITEM] : own, when });
  }

  #add(denial: Omit<Denial, 'when'>, when: readonly Condition[]): void {
    const key = JSON.stringify([denial.path, denial.coordinate]);
    const known = this.#found.get(key);
    if (known) known.when.push(when);
    else if (this.#found.size < MAX_DENIALS) this.#found.set(key, { ...denial, when: [when] });
  }

  /** Whether a selection set that several fragments spread was looked at for this place before. */
  #isSeen(set: SelectionSetNode, { path, when }: Place): boolean {
    const key = JSON.stringify([path, when]);
    const places = this.#seen.get(set) ?? new Set();
    if (places.has(key)) return true;
    this.#seen.set(set, places.add(key));
    return false;
  }

  /** Whether a removed field is in the selection set or below it. */
  #holdsDenied(set: SelectionSetNode): boolean {
    const known = this.#contains.get(set);
    if (known !== undefined) return known;
    const holds = set.selections.some((selection) => {
      if (selection.kind === Kind.FIELD && this.#search.notMet.has(selection)) return true;
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection.selectionSet;
      return inner !== undefined && this.#holdsDenied(inner);
    });
    this.#contains.set(set, holds);
    return holds;
  }
}
