/** The response keys of the document of a fetch. */
import { Kind, type SelectionSetNode, parse } from 'graphql';

/** Returns the response keys at the root of a fetch's document, or of its entities. */
export function keysOf(operation: string, isOfEntities: boolean): string[] {
  const document = parse(operation);
  const keys = new Set<string>();
  const collect = (set: SelectionSetNode, isRoot: boolean) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        if (isRoot && isOfEntities && selection.selectionSet) collect(selection.selectionSet, false);
        else keys.add(selection.alias?.value ?? selection.name.value);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, isRoot);
      else {
        const fragment = document.definitions.find(
          (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
        );
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) collect(fragment.selectionSet, isRoot);
      }
    }
  };
  for (const definition of document.definitions) if (definition.kind === Kind.OPERATION_DEFINITION) collect(definition.selectionSet, true);
  return [...keys];
}
