/** Takes a supergraph apart again. */
import { ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals';
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
