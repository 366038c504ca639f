/**
 * `GET /environments/{name}/artifact`: the signed supergraph of an environment (ADR 41), and `GET /environments/{name}/contracts/{contract}/artifact`: that
 * of a contract (ADR 45). With `If-None-Match` and `Prefer: wait=N` (RFC 7240 §4.3)
 * it waits up to N seconds, at most 60, for another release.
 */
import type { IncomingMessage } from 'node:http';
import type { KeyObject } from 'node:crypto';
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { Log } from '@trestle/log';
import { signArtifact } from '@trestle/schema/artifact';
import type { Release } from '../records.ts';
import type { Store } from '../store.ts';
import { findCurrentFor, readCanary, readSupergraph } from './current-launch.ts';
import type { ReleaseWatch } from './release-watch.ts';
import { type Reply, createEndpoint, matches } from './respond.ts';

/** The beginning of the path. */
export const ENVIRONMENTS_PATH = '/environments/';

const PATH = /^\/environments\/([a-z][a-z0-9-]{0,63})(?:\/contracts\/([a-z][a-z0-9-]{0,63}))?\/artifact$/;
const MAX_WAIT_SECONDS = 60;

/** What the endpoint is created from. */
export interface ArtifactOptions {
  readonly store: Store;
  readonly watch: ReleaseWatch;
  readonly signingKey: KeyObject;
  readonly log: Log;
}

/** Creates the endpoint. It needs `Authorization: Bearer` with a token that may read the environment. */
export function createArtifactEndpoint({ store, watch, signingKey, log }: ArtifactOptions): Endpoint {
  return createEndpoint(async (request, signal): Promise<Reply> => {
    const [, environment, contract] = PATH.exec(pathOf(request)) ?? [];
    if (request.method !== 'GET' || environment === undefined)
      return { kind: 'refused', code: 'NOT_FOUND', message: 'The path does not exist.' };
    const find = () => findCurrentFor(readBearer(request), { environment, contract }, store);
    let found = await find();
    const waitMs = readWaitMs(request.headers['prefer']);
    if (found.kind === 'found' && waitMs > 0 && matches(request.headers['if-none-match'], etagOf(found.release))) {
      await watch.wait(environment, found.release.number, { timeoutMs: waitMs, signal });
      // The token may have been revoked meanwhile.
      found = await find();
    }
    if (found.kind === 'no-token') return { kind: 'refused', code: 'UNAUTHORIZED', message: 'A valid token of the registry is required.' };
    if (found.kind === 'forbidden') return { kind: 'refused', code: 'FORBIDDEN', message: 'The token may not read this environment.' };
    if (found.kind === 'unknown-contract')
      return { kind: 'refused', code: 'NOT_FOUND', message: `The environment \`${environment}\` has no contract \`${contract ?? ''}\`.` };
    if (found.kind !== 'found')
      return { kind: 'refused', code: 'NOT_FOUND', message: `The environment \`${environment}\` does not exist.` };
    const { release, contract: served } = found;
    const read = async () => {
      const supergraphSdl = await readSupergraph(found, store);
      const canary = await readCanary(found, store);
      const facts = { environment, ...(served && { contract: served.name }), release: release.number, launch: release.launchId };
      return signArtifact({ ...facts, supergraphSdl, ...(canary && { canary }) }, signingKey);
    };
    return { kind: 'text', etag: etagOf(release), read };
  }, log);
}

function etagOf({ number, launchId }: Release): string {
  return `"${String(number)}-${launchId}"`;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function readBearer({ headers }: IncomingMessage): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

function readWaitMs(prefer: string | string[] | undefined): number {
  const seconds = Number(/(?:^|[,;\s])wait=(\d{1,5})(?:$|[,;\s])/i.exec(String(prefer ?? ''))?.[1] ?? 0);
  return Math.min(seconds, MAX_WAIT_SECONDS) * 1000;
}
