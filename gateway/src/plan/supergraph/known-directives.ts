/** Adds definitions of directives of the GraphQL specification to a supergraph that uses them without defining them. Apollo's library does not know them. */
import { type DocumentNode, Kind, parse } from 'graphql';

const ONE_OF = parse('directive @oneOf on INPUT_OBJECT', { noLocation: true }).definitions;

/** Returns the supergraph with a definition of `@oneOf` (GraphQL §3.13.6) where it lacks one. */
export function defineKnownDirectives(document: DocumentNode): DocumentNode {
  const isDefined = document.definitions.some((each) => each.kind === Kind.DIRECTIVE_DEFINITION && each.name.value === 'oneOf');
  if (isDefined) return document;
  const isUsed = document.definitions.some(
    (each) =>
      (each.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || each.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION) &&
      each.directives?.some(({ name }) => name.value === 'oneOf'),
  );
  return isUsed ? { ...document, definitions: [...document.definitions, ...ONE_OF] } : document;
}
