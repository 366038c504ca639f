/** Composes the supergraph of a small federation. */
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** A subgraph's name, address and whole schema. */
export interface ComposedSource {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
}

/** Returns the supergraph. Throws with the reasons when the subgraphs do not compose. */
export function composeSources(sources: readonly ComposedSource[]): string {
  const { supergraphSdl, errors } = composeServices(sources.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })));
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}
