/** Parses a supergraph, and names what is given in its place by mistake. */
import { type DocumentNode, GraphQLError, Kind, parse } from 'graphql';

const SPECS = 'https://specs.apollo.dev/';
const COMPOSE = 'Compose the schemas of all subgraphs first, for example with `rover supergraph compose`.';

/** Returns the document. Throws an Error for text that is no GraphQL, and for a schema that was not composed. */
export function parseSupergraph(sdl: string): DocumentNode {
  const document = parseText(sdl);
  const links = document.definitions.flatMap(findLinks);
  if (links.some((url) => url.startsWith(`${SPECS}join/`))) return document;
  throw new Error(
    links.some((url) => url.startsWith(`${SPECS}federation/`))
      ? `This is the schema of one subgraph, not a supergraph. ${COMPOSE}`
      : `This is not a supergraph: its schema has no @link to ${SPECS}join. ${COMPOSE}`,
  );
}

function parseText(sdl: string): DocumentNode {
  try {
    return parse(sdl, { noLocation: true });
  } catch (error) {
    const [place] = error instanceof GraphQLError ? (error.locations ?? []) : [];
    throw place ? new Error(`${String(place.line)}:${String(place.column)}: ${(error as Error).message}`) : error;
  }
}

/** Returns the addresses of the specifications that a definition links; `@core` is the older form of `@link`. */
function findLinks(definition: DocumentNode['definitions'][number]): string[] {
  if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) return [];
  const values = (definition.directives ?? []).flatMap(({ arguments: given = [] }) => given.map(({ value }) => value));
  return values.flatMap((value) => (value.kind === Kind.STRING ? [value.value] : []));
}
