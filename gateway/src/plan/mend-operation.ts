/** Rewrites a valid document before it is planned, so that nothing of it is left out in silence. */
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  isAbstractType,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/**
 * Asks for `__typename` wherever an object is asked for by type conditions alone: where none of the types can occur in a subgraph, the planner
 * would leave out the whole field, and its answer would be null instead of an empty object.
 */
export function mendOperation(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet: {
        leave(set): SelectionSetNode | undefined {
          const parent = types.getParentType();
          if (!parent || !isAbstractType(parent) || set.selections.some(({ kind }) => kind === Kind.FIELD)) return undefined;
          return { ...set, selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }, ...set.selections] };
        },
      },
    }),
  );
}
