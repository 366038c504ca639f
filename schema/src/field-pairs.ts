/** Counts the pairs of fields that validation compares (GraphQL specification §5.3.2) before it begins to compare them. No I/O. */
import { type DocumentNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * The most pairs of a document. graphql-js keeps each pair that it has compared until the end of the validation: its own limit of half a million
 * takes more than 40 MB and a quarter of a second. A document that spreads 100 fragments with the same two lists has 10,000.
 */
export const MAX_FIELD_PAIRS = 20_000;
/** Fields and spreads that may be looked at: fragments count wherever they are spread. */
const MAX_VISITS = 200_000;

/** The message for a document that has more. */
export const TOO_MANY_FIELD_PAIRS = 'The document is too complex to validate; select each field once and spread fewer fragments';

/**
 * Returns whether a document has more pairs than `maxPairs`: two fields with one response name and selections of their own, or two fragments,
 * that are selected on the same object. Fields without selections are cheap to compare; graphql-js limits their number itself.
 */
export function hasTooManyFieldPairs({ definitions }: DocumentNode, maxPairs = MAX_FIELD_PAIRS): boolean {
  const fragments = new Map<string, SelectionSetNode>();
  const pending: (readonly SelectionSetNode[])[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
    if (definition.kind === Kind.FRAGMENT_DEFINITION || definition.kind === Kind.OPERATION_DEFINITION)
      pending.push([definition.selectionSet]);
  }
  const counted = new Set<SelectionSetNode>();
  let pairs = 0;
  let visits = 0;
  for (let sets = pending.pop(); sets; sets = pending.pop()) {
    const [only] = sets;
    if (sets.length === 1 && only) {
      if (counted.has(only)) continue;
      counted.add(only);
    }
    const merged = merge(sets, fragments);
    visits += merged.visits;
    pairs += pairsOf(merged.spreads);
    for (const group of merged.fields.values()) {
      pairs += pairsOf(group.length);
      pending.push(group);
    }
    if (pairs > maxPairs || visits > MAX_VISITS) return true;
  }
  return false;
}

interface Merged {
  /** The selections of the fields that have some, by response name. */
  readonly fields: ReadonlyMap<string, readonly SelectionSetNode[]>;
  /** Fragments that are spread, each counted once. */
  readonly spreads: number;
  readonly visits: number;
}

/** Collects what selection sets of the same object select, as GraphQL §6.3.2 does, whatever the type conditions are. */
function merge(sets: readonly SelectionSetNode[], fragments: ReadonlyMap<string, SelectionSetNode>): Merged {
  const fields = new Map<string, SelectionSetNode[]>();
  const entered = new Set<string>();
  const pending: SelectionNode[] = sets.flatMap(({ selections }) => selections);
  let visits = 0;
  for (let selection = pending.pop(); selection; selection = pending.pop()) {
    visits++;
    if (selection.kind === Kind.FIELD) {
      const { alias, name, selectionSet } = selection;
      if (!selectionSet) continue;
      const group = fields.get((alias ?? name).value);
      if (group) group.push(selectionSet);
      else fields.set((alias ?? name).value, [selectionSet]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) for (const each of selection.selectionSet.selections) pending.push(each);
    else if (!entered.has(selection.name.value)) {
      entered.add(selection.name.value);
      for (const each of fragments.get(selection.name.value)?.selections ?? []) pending.push(each);
    }
  }
  return { fields, spreads: entered.size, visits };
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
