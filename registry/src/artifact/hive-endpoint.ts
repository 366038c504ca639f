/**
 * `GET /artifacts/v1/{target}/supergraph` and `GET /artifacts/v1/{target}/contracts/{name}/supergraph`: the protocol of Hive's CDN, so that its gateways
 * take our launches and contracts. A target is an environment.
 */
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { Log } from '@trestle/log';
import type { Store } from '../store.ts';
import { findCurrentFor, readSupergraph, servedIdOf } from './current-launch.ts';
import { type Reply, createEndpoint } from './respond.ts';

/** The beginning of the path. */
export const HIVE_PATH = '/artifacts/v1/';

const PATH = /^\/artifacts\/v1\/([a-z][a-z0-9-]{0,63})(?:\/contracts\/([a-z][a-z0-9-]{0,63}))?\/supergraph(?:\?|$)/;

/** Creates the endpoint. The key is a token that may read the environment, in `X-Hive-CDN-Key`. The statuses are those of Hive's CDN. */
export function createHiveEndpoint(store: Store, log: Log): Endpoint {
  return createEndpoint(async (request): Promise<Reply> => {
    const [, target, contract] = PATH.exec(request.url ?? '') ?? [];
    if (request.method !== 'GET' || target === undefined) return { kind: 'refused', code: 'NOT_FOUND', message: 'Not found.' };
    const key = request.headers['x-hive-cdn-key'];
    if (typeof key !== 'string') return { kind: 'refused', code: 'VALIDATION_ERROR', message: 'The header X-Hive-CDN-Key is required.' };
    const found = await findCurrentFor(key, { environment: target, contract }, store);
    if (found.kind === 'unknown') return { kind: 'refused', code: 'NOT_FOUND', message: 'The target does not exist.' };
    if (found.kind === 'unknown-contract') return { kind: 'refused', code: 'NOT_FOUND', message: 'The contract does not exist.' };
    if (found.kind !== 'found')
      return { kind: 'refused', code: 'FORBIDDEN', message: 'The key in X-Hive-CDN-Key is not valid for this target.' };
    return { kind: 'text', etag: `"${servedIdOf(found)}"`, read: () => readSupergraph(found, store) };
  }, log);
}
