/**
 * `reference` is the hidden second key of every entity, equal to its `id`. A subgraph that refers to an entity of another subgraph
 * returns `reference` and declares `id` external, so that the gateway fetches `id` from the owner even when only `id` is selected
 * (ADR 3). No I/O.
 */
import { type ConstDirectiveNode, type DocumentNode, Kind, visit } from 'graphql';

/** Names the hidden key field. */
export const REFERENCE_FIELD = 'reference';

/** Returns the document without `reference` fields and keys: subgraph resolvers use `id` only, and the chassis resolves `reference`. */
export function withoutReferences(document: DocumentNode): DocumentNode {
  const withoutReferenceKey = (directives: readonly ConstDirectiveNode[]) => {
    const keys = directives.filter(({ name }) => name.value === 'key');
    return directives.filter((each) => !isReferenceKey(each) || keys.length === 1);
  };
  return visit(document, {
    FieldDefinition: ({ name }) => (name.value === REFERENCE_FIELD ? null : undefined),
    ObjectTypeDefinition: (node) => ({ ...node, directives: withoutReferenceKey(node.directives ?? []) }),
    StringValue: (node) => (node.value === REFERENCE_FIELD ? { ...node, value: 'id' } : undefined),
  });
}

function isReferenceKey({ arguments: given = [] }: ConstDirectiveNode): boolean {
  return given.some(({ value }) => value.kind === Kind.STRING && value.value === REFERENCE_FIELD);
}
