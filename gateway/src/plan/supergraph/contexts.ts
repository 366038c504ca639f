/** Reads `@context` and `@fromContext` (federation 2.8) from a supergraph: `contextArguments` of `@join__field` says what a field gets. */
import { type ConstValueNode, Kind, type SelectionSetNode, parse, print } from 'graphql';
import { type FieldsNode, textOf } from '../selections/requirements.ts';

/** Returns the types that set each context, by the name of the context in the supergraph. Fragments name the types that a union has. */
export function findContexts(types: ReadonlyMap<string, FieldsNode>): Map<string, FieldsNode[]> {
  const contexts = new Map<string, FieldsNode[]>();
  for (const type of types.values())
    for (const directive of type.directives ?? []) {
      const name = directive.name.value === DIRECTIVE ? textOf(directive, 'name') : undefined;
      if (name !== undefined) contexts.set(name, [...(contexts.get(name) ?? []), type]);
    }
  return contexts;
}

const DIRECTIVE = 'context';

/**
 * Returns the value of `contextArguments` with another selection for each argument. `patch` gets the selection and the name of the context. Throws for
 * a selection that is not valid.
 */
export function patchSelections(
  value: ConstValueNode,
  patch: (selection: SelectionSetNode, context: string) => SelectionSetNode,
): ConstValueNode {
  if (value.kind === Kind.LIST) return { ...value, values: value.values.map((each) => patchSelections(each, patch)) };
  if (value.kind !== Kind.OBJECT) return value;
  const read = (name: string) => {
    const found = value.fields.find((each) => each.name.value === name)?.value;
    return found?.kind === Kind.STRING ? found.value : '';
  };
  const text = read('selection').trim();
  // Fragments alone need no braces.
  const [operation] = parse(text.startsWith('{') ? text : `{${text}}`, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`The supergraph has a selection that is not valid: ${text}`);
  const patched = print(patch(operation.selectionSet, read('context'))).replaceAll(/\s+/g, ' ');
  return {
    ...value,
    fields: value.fields.map((each) =>
      each.name.value === 'selection' ? { ...each, value: { kind: Kind.STRING, value: patched } } : each,
    ),
  };
}
