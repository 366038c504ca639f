/** Tells whether entities are fetched by a key that clients can't select, so that nothing is known of them but that they are referred to. */
import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import { type GraphQLField, type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql';

/** Returns true when every key field is `@inaccessible`. `schema` is the whole supergraph's, with its directives. */
export function hasHiddenKey(schema: GraphQLSchema, requires: readonly QueryPlanSelectionNode[]): boolean {
  return (
    requires.length > 0 &&
    requires.every((each) => {
      if (each.kind !== 'InlineFragment' || each.typeCondition === undefined) return false;
      const type = schema.getType(each.typeCondition);
      if (!isObjectType(type) && !isInterfaceType(type)) return false;
      const keys = each.selections.filter((key) => key.kind !== 'Field' || key.name !== '__typename');
      return keys.length > 0 && keys.every((key) => key.kind === 'Field' && isInaccessible(type.getFields()[key.name]));
    })
  );
}

/** By its own name or with the namespace that `@link` gives it. */
function isInaccessible(field: GraphQLField<unknown, unknown> | undefined): boolean {
  return field?.astNode?.directives?.some(({ name }) => name.value === 'inaccessible' || name.value.endsWith('__inaccessible')) === true;
}
