/** A supergraph on the CDN of Hive: the artifact `supergraph` of a target or of a contract. */
import { createUrlSource } from './url-source.ts';
import type { SourceLimits, SupergraphSource } from './source.ts';

const ARTIFACT = '/supergraph';

export interface HiveSourceOptions extends SourceLimits {
  /** As Hive shows them, with or without the name of the artifact: the CDN, and its mirrors. */
  readonly endpoints: readonly string[];
  /** The CDN access token. */
  readonly key: string;
}

/** Creates the source. */
export function createHiveSource({ endpoints, key, ...limits }: HiveSourceOptions): SupergraphSource {
  return createUrlSource({ urls: endpoints.map(toArtifactUrl), headers: { 'x-hive-cdn-key': key }, ...limits });
}

function toArtifactUrl(endpoint: string): string {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/$/, '');
  url.pathname = path.endsWith(ARTIFACT) ? path : `${path}${ARTIFACT}`;
  return url.href;
}
