/** The SDL that a subgraph serves: its file with what Federation adds. Written at composition, because it takes most of the start of a subgraph. */
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphqlSync, parse } from 'graphql';

/**
 * Returns the result of `_service { sdl }` for the SDL of a subgraph: with the definitions of the directives that it links, `_entities`, `_service` and
 * their types. Throws for an SDL that is no valid subgraph.
 */
export function toServedSdl(sdl: string): string {
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl) });
  const { data, errors } = graphqlSync({ schema, source: '{ _service { sdl } }' });
  if (errors) throw errors[0] as Error;
  return (data as unknown as { readonly _service: { readonly sdl: string } })._service.sdl;
}
