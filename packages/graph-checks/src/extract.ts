/** Reads subgraphs in other forms than files: as part of a supergraph, and as a running subgraph prints itself. */
import { ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph, buildSubgraph } from '@apollo/federation-internals';
import { sortSDL } from '@theguild/federation-composition';
import { Kind, isTypeDefinitionNode, parse, print } from 'graphql';
import type { SubgraphSource } from './compose.ts';

/**
 * Returns the subgraphs that a supergraph was composed of. They compose to the same supergraph, and lack what composition leaves out: descriptions
 * that another subgraph's replaced, and directives that it does not know. Throws a GraphQLError when the text is not a supergraph.
 */
export function extractSubgraphs(supergraphSdl: string): SubgraphSource[] {
  const supergraph = Supergraph.build(supergraphSdl, { supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES });
  return supergraph
    .subgraphs()
    .values()
    .map((subgraph) => ({ name: subgraph.name, url: subgraph.url, sdl: subgraph.toString() }));
}

/** Types and fields that a subgraph library adds to what a gateway may ask (Federation subgraph specification). */
const ADDED = new Set(['_Any', '_Entity', '_Service', '_entities', '_service']);

/**
 * Returns a subgraph's SDL in a form that is equal for equal schemas: with all definitions of federation, which some subgraph libraries add to
 * `_service { sdl }` and others do not, sorted, without comments. An SDL that is no subgraph is returned without spaces at its ends.
 */
export function normalizeSubgraph(sdl: string): string {
  try {
    const { definitions, ...document } = sortSDL(parse(buildSubgraph('subgraph', 'http://subgraph', sdl).toString()));
    const own = definitions.filter((definition) => !isTypeDefinitionNode(definition) || !ADDED.has(definition.name.value));
    const withoutAdded = own.map((definition) =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION
        ? { ...definition, fields: definition.fields?.filter(({ name }) => !ADDED.has(name.value)) ?? [] }
        : definition,
    );
    return print({ ...document, definitions: withoutAdded });
  } catch {
    return sdl.trim();
  }
}
