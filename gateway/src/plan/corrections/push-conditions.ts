/** Moves the conditions of fragments to the fields in them. The planner loses conditions of fragments around fields with `@requires`. */
import { type DirectiveNode, type DocumentNode, type FieldNode, Kind, type SelectionNode, type SelectionSetNode, visit } from 'graphql';

/** The largest number of variables for whose values an operation is planned separately, once for each combination. */
export const MAX_DECIDED = 3;

/**
 * Returns an operation without fragment spreads that has `@skip` and `@include` on fields only. A fragment keeps a condition where a field would get
 * the same directive twice, which is not valid.
 */
export function pushConditions(document: DocumentNode): DocumentNode {
  const repeated = findRepeatedKeys(document);
  const push = (set: SelectionSetNode, conditions: readonly DirectiveNode[]): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((selection): SelectionNode[] => {
      const { all, rest } = add(conditions, selection.directives ?? []);
      const own = [...all, ...rest].filter(isCondition);
      if (selection.kind === Kind.FIELD) {
        // Selections with the same response key are fetched together, so the conditions of each must be on its own fields.
        const below = repeated.has(keyOf(selection)) ? own : [];
        const selectionSet = selection.selectionSet && push(selection.selectionSet, below);
        return wrap({ ...selection, directives: all, ...(selectionSet && { selectionSet }) }, rest);
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection];
      const others = (selection.directives ?? []).filter((each) => !isCondition(each));
      const inner = push(selection.selectionSet, own);
      // The planner would merge such fragments, and so change the order of the fields of a mutation.
      if (!selection.typeCondition && others.length === 0) return [...inner.selections];
      return [{ ...selection, directives: others, selectionSet: inner }];
    }),
  });
  const definitions = document.definitions.map((each) =>
    'selectionSet' in each ? { ...each, selectionSet: push(each.selectionSet, []) } : each,
  );
  return { ...document, definitions };
}

/** Returns the response keys of fields with selection sets that occur more than once in the document. */
function findRepeatedKeys(document: DocumentNode): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  visit(document, {
    Field: (field) => {
      if (!field.selectionSet) return;
      const key = keyOf(field);
      (seen.has(key) ? repeated : seen).add(key);
    },
  });
  return repeated;
}

function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

/** Returns the directives that one selection can have (`all`), and the conditions that it cannot have beside others of the same name (`rest`). */
function add(conditions: readonly DirectiveNode[], own: readonly DirectiveNode[]): { all: DirectiveNode[]; rest: DirectiveNode[] } {
  const all = [...own];
  const rest: DirectiveNode[] = [];
  for (const condition of conditions) {
    if (all.some((each) => isSame(each, condition))) continue;
    (all.some(({ name }) => name.value === condition.name.value) ? rest : all).push(condition);
  }
  return { all, rest };
}

function wrap(selection: SelectionNode, [condition, ...others]: readonly DirectiveNode[]): SelectionNode[] {
  if (!condition) return [selection];
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: wrap(selection, others) };
  return [{ kind: Kind.INLINE_FRAGMENT, directives: [condition], selectionSet }];
}

function isCondition({ name }: DirectiveNode): boolean {
  return name.value === 'skip' || name.value === 'include';
}

function variableOf({ arguments: given = [] }: DirectiveNode): string | undefined {
  const value = given[0]?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined;
}

function isSame(a: DirectiveNode, b: DirectiveNode): boolean {
  return a.name.value === b.name.value && isCondition(a) && variableOf(a) === variableOf(b);
}

/**
 * Returns the variables of conditions that are left on fragments: the operation must be planned for each of their values. Returns none when there are
 * more than MAX_DECIDED.
 */
export function variablesToDecide(document: DocumentNode): string[] {
  const found = new Set<string>();
  const note = ({ directives = [] }: { readonly directives?: readonly DirectiveNode[] }) => {
    for (const directive of directives) {
      const name = isCondition(directive) ? variableOf(directive) : undefined;
      if (name !== undefined) found.add(name);
    }
  };
  visit(document, { InlineFragment: note });
  return found.size > MAX_DECIDED ? [] : [...found];
}

/** Returns the document with the value in the place of the variable in all conditions. */
export function decide(document: DocumentNode, variable: string, value: boolean): DocumentNode {
  return visit(document, {
    Directive: (directive) =>
      isCondition(directive) && variableOf(directive) === variable
        ? { ...directive, arguments: directive.arguments?.map((each) => ({ ...each, value: { kind: Kind.BOOLEAN, value } })) }
        : undefined,
  });
}
