/** A supergraph on the CDN of Hive: the artifact `supergraph` of a target or of a contract. */
import { toEndpoint } from './hive-endpoint.ts';
import { createUrlSource } from './url-source.ts';
import type { SourceLimits, SupergraphSource } from './source.ts';

export interface HiveSourceOptions extends SourceLimits {
  /** As Hive shows them, with or without the name of the artifact: the CDN, and its mirrors. */
  readonly endpoints: readonly string[];
  /** The CDN access token. */
  readonly key: string;
}

/** Creates the source. */
export function createHiveSource({ endpoints, key, ...limits }: HiveSourceOptions): SupergraphSource {
  return createUrlSource({
    urls: endpoints.map((endpoint) => toEndpoint(endpoint, 'supergraph')),
    headers: { 'x-hive-cdn-key': key },
    ...limits,
  });
}
