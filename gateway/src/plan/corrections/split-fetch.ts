/**
 * Splits a fetch of entities whose fields require the same field with different arguments: a representation can have the field only once, so each
 * set of arguments needs a separate fetch.
 */
import { type GuardedFetch, type RequiredSelection, eachEntityField } from '../selections/requirements.ts';
import { type DocumentNode, type FieldNode, Kind, type SelectionNode, type SelectionSetNode, parse, print, visit } from 'graphql';

export interface Requirements {
  /** The real name of a stand-in; undefined for any other field. */
  readonly realNameOf: (field: string) => string | undefined;
  /** The stand-ins that a field of a type requires. */
  readonly neededBy: (type: string, field: string) => ReadonlySet<string>;
}

/**
 * Returns the parts of a fetch; the fetch itself when it need not be split. Its requirements are guarded: one that only another part needs under a
 * condition does not prevent this part from being sent.
 */
export function splitFetch(node: GuardedFetch, requirements: Requirements): GuardedFetch[] {
  const conflicting = findConflicts(node.requires ?? [], requirements);
  if (conflicting.size === 0) return [node];
  const document = parse(node.operation, { noLocation: true });
  const groups = new Map<string, ReadonlySet<string>>();
  eachEntityField(document, (type, field) => {
    const needed = [...requirements.neededBy(type, field.name.value)].filter((name) => conflicting.has(name)).sort();
    groups.set(needed.join(), new Set(needed));
  });
  // Fields that need none of them are fetched with the first part.
  const none = groups.get('');
  if (none && groups.size > 1) groups.delete('');
  return [...groups.values()].map((needed, i) => {
    const keeps = (type: string, field: FieldNode) => {
      const own = [...requirements.neededBy(type, field.name.value)].filter((name) => conflicting.has(name));
      return own.length === 0 ? i === 0 : own.every((name) => needed.has(name)) && own.length === needed.size;
    };
    const kept = withoutUnusedVariables(filterEntityFields(document, keeps));
    return {
      ...node,
      operation: print(kept.document),
      variableUsages: (node.variableUsages ?? []).filter((name) => kept.variables.has(name)),
      requires: (node.requires ?? []).map((each) => withoutFields(each, (name) => conflicting.has(name) && !needed.has(name))),
    };
  });
}

/** Returns the stand-ins that share a field of the same object with another stand-in or with the field itself. */
function findConflicts(requires: readonly RequiredSelection[], { realNameOf }: Requirements): Set<string> {
  const conflicting = new Set<string>();
  const byType = new Map<string, Map<string, Set<string>>>();
  const visitLevel = (selections: readonly RequiredSelection[], path: string) => {
    for (const selection of selections) {
      if (selection.kind === 'InlineFragment') visitLevel(selection.selections, `${path}|${selection.typeCondition ?? ''}`);
      else {
        const real = realNameOf(selection.name) ?? selection.name;
        const level = byType.get(path) ?? new Map<string, Set<string>>();
        byType.set(path, level);
        level.set(real, (level.get(real) ?? new Set()).add(selection.name));
        if (selection.selections) visitLevel(selection.selections, `${path}.${real}`);
      }
    }
  };
  visitLevel(requires, '');
  for (const level of byType.values())
    for (const names of level.values()) if (names.size > 1) for (const name of names) conflicting.add(name);
  return conflicting;
}

function withoutFields(selection: RequiredSelection, isDropped: (name: string) => boolean): RequiredSelection {
  if (!selection.selections) return selection;
  const selections = selection.selections
    .filter((each) => each.kind !== 'Field' || !isDropped(each.name))
    .map((each) => withoutFields(each, isDropped));
  return { ...selection, selections };
}

function filterEntityFields(document: DocumentNode, keeps: (type: string, field: FieldNode) => boolean): DocumentNode {
  const filter = (set: SelectionSetNode, type: string): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind === Kind.FIELD) return selection.name.value === '__typename' || keeps(type, selection) ? [selection] : [];
      if (selection.kind !== Kind.INLINE_FRAGMENT) return [selection];
      const selectionSet = filter(selection.selectionSet, selection.typeCondition?.name.value ?? type);
      return selectionSet.selections.length > 0 ? [{ ...selection, selectionSet }] : [];
    }),
  });
  return visit(document, {
    Field: (field) =>
      field.name.value === '_entities' && field.selectionSet ? { ...field, selectionSet: filter(field.selectionSet, '') } : undefined,
  });
}

/** Returns the document without the variables that nothing in it uses, and the names of those that are left. */
export function withoutUnusedVariables(document: DocumentNode): { document: DocumentNode; variables: ReadonlySet<string> } {
  const variables = new Set<string>();
  for (const definition of document.definitions)
    if ('selectionSet' in definition) visit(definition.selectionSet, { Variable: ({ name }) => void variables.add(name.value) });
  return {
    document: visit(document, { VariableDefinition: ({ variable }) => (variables.has(variable.name.value) ? undefined : null) }),
    variables,
  };
}
