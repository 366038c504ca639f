/** Lets clients use `__typename` as the alias of another field, beside the `__typename` that the planner selects (GraphQL §2.7). */
import { type DocumentNode, type FieldNode, Kind, visit } from 'graphql';
import { TYPENAME_ALIAS } from '../../program/response-key.ts';

/**
 * Returns the document with {@link TYPENAME_ALIAS} wherever a field other than `__typename` has that alias. Results of introspection do not come from
 * subgraphs and keep their aliases.
 */
export function renameTypenameAliases(document: DocumentNode): DocumentNode {
  let introspectionDepth = 0;
  return visit(document, {
    Field: {
      enter(field) {
        const isRenamed = introspectionDepth === 0 && field.alias?.value === '__typename' && field.name.value !== '__typename';
        if (isIntrospection(field)) introspectionDepth++;
        return isRenamed ? { ...field, alias: { kind: Kind.NAME, value: TYPENAME_ALIAS } } : undefined;
      },
      leave(field) {
        if (isIntrospection(field)) introspectionDepth--;
      },
    },
    FragmentDefinition: ({ typeCondition }) => (typeCondition.name.value.startsWith('__') ? false : undefined),
  });
}

function isIntrospection({ name }: FieldNode): boolean {
  return name.value === '__schema' || name.value === '__type';
}
