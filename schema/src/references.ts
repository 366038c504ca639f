/**
 * `reference`: the hidden second key of every entity, equal to its `id`. A subgraph that refers to another's entity hands over
 * `reference` and has `id` external, so that the gateway asks the owner even when a client selects `id` alone (ADR 3). No I/O.
 */
import { type ConstDirectiveNode, type DocumentNode, Kind, visit } from 'graphql';

export const REFERENCE_FIELD = 'reference';

/** Returns the SDL as if there were no `reference`: resolvers know `id` only, the chassis answers the rest. */
export function withoutReferences(document: DocumentNode): DocumentNode {
  const leave = (directives: readonly ConstDirectiveNode[]) => {
    const keys = directives.filter(({ name }) => name.value === 'key');
    return directives.filter((each) => !isReferenceKey(each) || keys.length === 1);
  };
  return visit(document, {
    FieldDefinition: ({ name }) => (name.value === REFERENCE_FIELD ? null : undefined),
    ObjectTypeDefinition: (node) => ({ ...node, directives: leave(node.directives ?? []) }),
    StringValue: (node) => (node.value === REFERENCE_FIELD ? { ...node, value: 'id' } : undefined),
  });
}

function isReferenceKey({ arguments: given = [] }: ConstDirectiveNode): boolean {
  return given.some(({ value }) => value.kind === Kind.STRING && value.value === REFERENCE_FIELD);
}
