/** Removes the conditions of an operation (GraphQL §3.13.1, §3.13.2), and the selections that its variables exclude. */
import { type DocumentNode, type FieldNode, type InlineFragmentNode, Kind, type SelectionNode, parse, visit } from 'graphql';

/** Returns the operation for these values of its variables. A selection set that would be empty has a field that is always skipped. */
export function withoutConditions(document: DocumentNode, variables: Readonly<Record<string, unknown>>): DocumentNode {
  const values = { ...defaultsOf(document), ...variables };
  const isExcluded = ({ directives = [] }: SelectionNode) =>
    directives.some(({ name, arguments: [argument] = [] }) => {
      const value = argument?.value;
      const decided = value?.kind === Kind.VARIABLE ? values[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
      return (name.value === 'skip' && decided === true) || (name.value === 'include' && decided !== true);
    });
  const decide = <T extends SelectionNode>(selection: T) => (isExcluded(selection) ? null : { ...selection, directives: [] });
  return visit(document, {
    Field: (field: FieldNode) => decide(field),
    InlineFragment: (fragment: InlineFragmentNode) => decide(fragment),
    FragmentSpread: decide,
    SelectionSet: {
      leave: (set) => (set.selections.length === 0 ? { ...set, selections: NOTHING } : undefined),
    },
  });
}

const [SKIPPED] = parse('{ __typename @skip(if: true) }').definitions;
const NOTHING = SKIPPED?.kind === Kind.OPERATION_DEFINITION ? SKIPPED.selectionSet.selections : [];

function defaultsOf({ definitions }: DocumentNode): Record<string, unknown> {
  const variables = definitions.flatMap((each) => (each.kind === Kind.OPERATION_DEFINITION ? (each.variableDefinitions ?? []) : []));
  return Object.fromEntries(
    variables.flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.BOOLEAN ? [[variable.name.value, defaultValue.value]] : [],
    ),
  );
}
