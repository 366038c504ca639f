/** What an environment, or a contract of it, serves now, for a client that sends a token in whatever place its protocol has for it. */
import type { ReleasedContract } from '../contract-records.ts';
import type { Release, Token } from '../records.ts';
import type { Store } from '../store.ts';
import { mayRead } from '../tokens/access.ts';
import { findToken } from '../tokens/create-token.ts';

/** The form of the names of environments and contracts. */
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** What is read: an environment, or one of its contracts. */
export interface Variant {
  readonly environment: string;
  readonly contract?: string | undefined;
}

/** A release, with the contract that is read; undefined for the whole graph. */
export interface FoundRelease {
  readonly kind: 'found';
  readonly release: Release;
  readonly contract: ReleasedContract | undefined;
}

/** The outcome: a release, or why there is none. */
export type CurrentRelease = FoundRelease | { readonly kind: 'no-token' | 'forbidden' | 'unknown' | 'unknown-contract' };

/** Returns what is current for the token of a secret. Any scope is enough. */
export async function findCurrentFor(
  secret: string | undefined,
  { environment, contract: name }: Variant,
  store: Store,
): Promise<CurrentRelease> {
  const token: Token | undefined = await findToken(secret, store);
  if (!token) return { kind: 'no-token' };
  if (!mayRead(token, environment)) return { kind: 'forbidden' };
  // PostgreSQL refuses strings that have a U+0000.
  if (!NAME.test(environment)) return { kind: 'unknown' };
  const release = await store.findCurrentRelease(environment);
  if (!release) return { kind: 'unknown' };
  if (name === undefined) return { kind: 'found', release, contract: undefined };
  if (!NAME.test(name)) return { kind: 'unknown-contract' };
  const contract = await store.findReleasedContract(release, name);
  return contract ? { kind: 'found', release, contract } : { kind: 'unknown-contract' };
}

/** Returns the id of the text that is served: it is the same as long as the text is. */
export function servedIdOf({ release, contract }: FoundRelease): string {
  return contract?.schemaId ?? release.launchId;
}

/** Returns the supergraph of a release or of its contract, which always exists. */
export async function readSupergraph({ release, contract }: FoundRelease, store: Store): Promise<string> {
  return (await requireSchema(contract ? { schemaId: contract.schemaId } : { launchId: release.launchId }, store)).supergraphSdl;
}

/** Returns the canary of a release, with its supergraph or that of the contract; undefined without a canary. */
export async function readCanary({ release, contract }: FoundRelease, store: Store) {
  const { canaryLaunchId: launch, canaryPercent: percent } = release;
  if (launch === null || percent === null) return undefined;
  const schema = await requireSchema(contract ? { schemaId: contract.canarySchemaId ?? '' } : { launchId: launch }, store);
  return { launch, percent, supergraphSdl: schema.supergraphSdl };
}

type SchemaReference = { readonly schemaId: string } | { readonly launchId: string };

async function requireSchema(reference: SchemaReference, store: Store): Promise<{ readonly supergraphSdl: string }> {
  const schema = await ('schemaId' in reference ? store.findContractSchema(reference.schemaId) : store.findLaunch(reference.launchId));
  if (!schema) throw new Error(`What a release serves does not exist: ${JSON.stringify(reference)}`);
  return schema;
}
