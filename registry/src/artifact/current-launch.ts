/** What an environment serves now, for a client that sends a token in whatever place its protocol has for it. */
import type { Launch, Release, Token } from '../records.ts';
import type { Store } from '../store.ts';
import { mayRead } from '../tokens/access.ts';
import { findToken } from '../tokens/create-token.ts';

/** The outcome: a release, or why there is none. */
export type CurrentRelease =
  { readonly kind: 'found'; readonly release: Release } | { readonly kind: 'no-token' | 'forbidden' | 'unknown' };

/** Returns the current release of an environment for the token of a secret. Any scope is enough. */
export async function findCurrentFor(secret: string | undefined, environment: string, store: Store): Promise<CurrentRelease> {
  const token: Token | undefined = await findToken(secret, store);
  if (!token) return { kind: 'no-token' };
  if (!mayRead(token, environment)) return { kind: 'forbidden' };
  const release = await store.findCurrentRelease(environment);
  return release ? { kind: 'found', release } : { kind: 'unknown' };
}

/** Returns the launch of a release, which always exists. */
export async function requireLaunch({ launchId }: Pick<Release, 'launchId'>, store: Store): Promise<Launch> {
  const launch = await store.findLaunch(launchId);
  if (!launch) throw new Error(`The launch ${launchId} of a release does not exist`);
  return launch;
}
