/** Rewrites a valid document before it is planned, so that nothing of it is left out in silence. */
import { type DocumentNode, type FieldNode, Kind, visit } from 'graphql';
import { readConditions } from './selection.ts';

/**
 * Asks for `__typename` in every selection set of which nothing may be left: where its type conditions can't be met in a subgraph, or its conditions
 * exclude each other, the planner would leave out the whole field, even a mutation, and its answer would be null instead of an empty object.
 */
export function mendOperation(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field: {
      leave(field): FieldNode | undefined {
        const set = field.selectionSet;
        if (!set || set.selections.some((selection) => selection.kind === Kind.FIELD && readConditions(selection).length === 0))
          return undefined;
        return { ...field, selectionSet: { ...set, selections: [TYPENAME, ...set.selections] } };
      },
    },
  });
}

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };
