/** Finds operations that select public data only: fields, or fields of types, with `@tag(name: "public")`. */
import type { Schema } from '@apollo/federation-internals';
import { type DocumentNode, type GraphQLSchema, TypeInfo, isAbstractType, isObjectType, visit, visitWithTypeInfo } from 'graphql';

/** Returns the test. `supergraph` has the tags, `schema` is the schema of clients. */
export function createPublicTest(supergraph: Schema, schema: GraphQLSchema): (document: DocumentNode) => boolean {
  const marked = findMarked(supergraph);
  const isMarked = (type: string, field: string) => marked.has(type) || marked.has(`${type}.${field}`);
  return (document) => {
    let isPublic = true;
    const types = new TypeInfo(schema);
    visit(
      document,
      visitWithTypeInfo(types, {
        Field({ name: { value: field } }) {
          const parent = types.getParentType();
          if (!parent || field.startsWith('__')) return;
          // An object of an interface may be of any of its types.
          const behind = isAbstractType(parent) ? schema.getPossibleTypes(parent) : isObjectType(parent) ? [parent] : [];
          if (!behind.every(({ name }) => isMarked(name, field))) isPublic = false;
        },
      }),
    );
    return isPublic;
  };
}

const MARK = 'public';

/** Returns the names of types and the coordinates of fields that have the tag. */
function findMarked(supergraph: Schema): Set<string> {
  const marked = new Set<string>();
  for (const type of supergraph.objectTypes()) {
    if (type.appliedDirectivesOf('tag').some(isMark)) marked.add(type.name);
    for (const field of type.fields()) if (field.appliedDirectivesOf('tag').some(isMark)) marked.add(field.coordinate);
  }
  return marked;
}

function isMark(directive: { arguments(): unknown }): boolean {
  return (directive.arguments() as { name?: unknown }).name === MARK;
}
