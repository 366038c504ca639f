/** Reads and filters what the document of an entity fetch selects. */
import { type DocumentNode, Kind, type SelectionNode, type SelectionSetNode, visit } from 'graphql';
import { type SelectedField, describeField } from '../selections/selected-fields.ts';
import { type Condition, readConditions, union } from '../selections/selection.ts';

/** Whether a field is kept; its path is made of response keys with dots between, from the entity on. */
export type Keeps = (path: string, field: SelectedField) => boolean;

/** Returns the type conditions of the fragments that select the entities' fields. */
export function typeConditionsOf(document: DocumentNode): string[] {
  const found: string[] = [];
  visit(document, {
    Field: ({ name, selectionSet }) => {
      if (name.value === '_entities')
        for (const each of selectionSet?.selections ?? [])
          if (each.kind === Kind.INLINE_FRAGMENT && each.typeCondition) found.push(each.typeCondition.name.value);
      return false;
    },
  });
  return found;
}

/** Returns the document with the entities' fields that are kept, at every depth, and the coordinates of those that are the entities' own. */
export function filterFields(document: DocumentNode, keeps: Keeps): { document: DocumentNode; fields: Set<string> } {
  const fields = new Set<string>();
  interface Level {
    readonly path: readonly string[];
    readonly type: string;
    readonly when: readonly Condition[];
  }
  const filter = (set: SelectionSetNode, { path, type, when }: Level): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((selection): SelectionNode[] => {
      const own = readConditions(selection);
      if (own === 'never' || selection.kind === Kind.FRAGMENT_SPREAD) return [selection];
      const all = union(when, own);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = path.length === 0 ? (selection.typeCondition?.name.value ?? type) : type;
        const selectionSet = filter(selection.selectionSet, { path, type: on, when: all });
        return selectionSet.selections.length > 0 ? [{ ...selection, selectionSet }] : [];
      }
      if (selection.name.value === '__typename') return [selection];
      const at = [...path, (selection.alias ?? selection.name).value];
      if (!keeps(at.join('.'), { text: describeField(selection), when: all })) return [];
      if (path.length === 0) fields.add(`${type}.${selection.name.value}`);
      if (!selection.selectionSet) return [selection];
      const selectionSet = filter(selection.selectionSet, { path: at, type: '', when: [] });
      return [{ ...selection, selectionSet: selectionSet.selections.length > 0 ? selectionSet : selection.selectionSet }];
    }),
  });
  const filtered = visit(document, {
    Field: (field) =>
      field.name.value === '_entities' && field.selectionSet
        ? { ...field, selectionSet: filter(field.selectionSet, { path: [], type: '', when: [] }) }
        : undefined,
  });
  return { document: filtered, fields };
}
