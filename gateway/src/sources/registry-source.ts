/** The supergraph of an environment of Trestle's registry, or of a contract of it: a signed artifact, read by long polls (ADR 41, ADR 45). */
import type { KeyObject } from 'node:crypto';
import { type Artifact, openArtifact } from '@trestle/schema/artifact';
import type { CanaryReturn } from '../launches/delivered.ts';
import { exchange, toPlace } from './exchange.ts';
import { type Reading, SourceError, type SourceLimits, type SupergraphSource } from './source.ts';

/** How long the registry may wait for a new release. */
const WAIT_SECONDS = 25;

const RETURN_CANARY = 'mutation ReturnCanary($input: ReturnCanaryInput!) { returnCanary(input: $input) { number } }';

export interface RegistrySourceOptions extends SourceLimits {
  /** The address of the registry, without a path of its API. */
  readonly url: string;
  readonly environment: string;
  /** A contract of the environment; undefined for the whole graph. */
  readonly contract?: string | undefined;
  /** A token that may read the environment. */
  readonly token: string;
  /** The key of the registry's signatures. */
  readonly publicKey: KeyObject;
}

/**
 * Creates the source. An artifact is refused when its signature does not fit, when it is of another environment or contract, and when its release is older
 * than one that was accepted before, the copy on disk included.
 */
export function createRegistrySource({ url, environment, contract, token, publicKey, ...limits }: RegistrySourceOptions): SupergraphSource {
  const variant = contract === undefined ? '' : `/contracts/${encodeURIComponent(contract)}`;
  const address = new URL(`environments/${encodeURIComponent(environment)}${variant}/artifact`, url.endsWith('/') ? url : `${url}/`).href;
  const place = toPlace(address);
  let accepted: Artifact | undefined;
  let etag: string | undefined;

  const accept = (text: string): void => {
    const artifact = openArtifact(text, publicKey);
    if (artifact.environment !== environment) throw new Error(`is of the environment ${artifact.environment}, not ${environment}`);
    if (artifact.contract !== contract) throw new Error(`is of ${nameOf(artifact.contract)}, not of ${nameOf(contract)}`);
    const { release, launch } = accepted ?? { release: 0, launch: artifact.launch };
    if (artifact.release < release) throw new Error(`is release ${String(artifact.release)}, older than ${String(release)}`);
    if (artifact.release === release && artifact.launch !== launch)
      throw new Error(`is another launch than release ${String(release)} was`);
    accepted = artifact;
  };
  const meanings = {
    404: `there is no environment \`${environment}\` with a release${contract === undefined ? '' : `, or it has no contract \`${contract}\``}`,
  };
  const read = async (signal: AbortSignal): Promise<Reading> => {
    const condition = etag;
    const conditions = condition === undefined ? {} : { 'if-none-match': condition, prefer: `wait=${String(WAIT_SECONDS)}` };
    const timeoutMs = limits.timeoutMs + (condition === undefined ? 0 : WAIT_SECONDS * 1000);
    const headers = { authorization: `Bearer ${token}` };
    const sent = { url: address, method: 'GET', headers, conditions, maxRedirects: 0 } as const;
    const response = await exchange(sent, { ...limits, timeoutMs, statuses: [200, 304], meanings, signal });
    if (response.status === 304) {
      if (condition === undefined) throw new SourceError(`${place}: responded with 304 to a request without a condition`);
      return { sdl: undefined };
    }
    try {
      accept(response.text);
    } catch (error) {
      throw new SourceError(`${place}: the artifact ${(error as Error).message}`);
    }
    etag = response.etag;
    return { sdl: response.text };
  };
  const api = new URL('graphql', url.endsWith('/') ? url : `${url}/`).href;
  const reportReturn = async ({ release, reason }: CanaryReturn, signal: AbortSignal): Promise<void> => {
    const body = JSON.stringify({ query: RETURN_CANARY, variables: { input: { environment, release, reason } } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' };
    const sent = { url: api, method: 'POST', headers, body, maxRedirects: 0 } as const;
    const { text } = await exchange(sent, { ...limits, statuses: [200], signal });
    if (!hasData(text)) throw new SourceError(`${api}: refused the end of a canary; does the token have the scope CANARY?`);
  };
  return { place, read, acceptCopy: accept, reportReturn };
}

function nameOf(contract: string | undefined): string {
  return contract === undefined ? 'the whole graph' : `the contract ${contract}`;
}

function hasData(text: string): boolean {
  try {
    return Boolean((JSON.parse(text) as { data?: object | null } | null)?.data);
  } catch {
    return false;
  }
}
