/** Finds fields that no longer merge (GraphQL specification §5.3.2): a field that becomes non-null breaks selections on an interface or union. */
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Compared } from './broken-spreads.ts';
import { memberUse } from './use-keys.ts';

const MAX_CONFLICTS = 1000;

/**
 * Returns the coordinates of fields that conflict with others of the same response name in the second schema, in a way in which they do not in the
 * first. Recorded documents have no aliases, so that fields which clients keep apart by aliases count as one where their types were the same.
 */
export function findNewConflicts(document: DocumentNode, { from, to }: Compared): Set<string> {
  const conflicts = listConflicts(to, document);
  if (conflicts.length === 0) return new Set();
  const coordinates = locateFields(from, document);
  const toCoordinates = (nodes: readonly ASTNode[]) => nodes.flatMap((node) => coordinates.get(node) ?? []);
  const known = new Set(listConflicts(from, document).map((nodes) => keyOf(toCoordinates(nodes))));
  return new Set(conflicts.map(toCoordinates).flatMap((found) => (known.has(keyOf(found)) ? [] : found)));
}

function listConflicts(schema: GraphQLSchema, document: DocumentNode): (readonly ASTNode[])[] {
  const errors = validate(schema, document, [OverlappingFieldsCanBeMergedRule], { maxErrors: MAX_CONFLICTS });
  return errors.map(({ nodes }) => nodes ?? []);
}

function keyOf(coordinates: readonly string[]): string {
  return [...new Set(coordinates)].sort().join(' ');
}

function locateFields(schema: GraphQLSchema, document: DocumentNode): Map<ASTNode, string> {
  const types = new TypeInfo(schema);
  const found = new Map<ASTNode, string>();
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const parent = types.getParentType();
        if (parent) found.set(node, memberUse(parent.name, node.name.value));
      },
    }),
  );
  return found;
}
