/** Creates and finds tokens. */
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { checkEnvironment, checkSubgraphNames, checkText } from '../publishing/input-rules.ts';
import type { Token, TokenScope } from '../records.ts';
import type { Store } from '../store.ts';
import { createSecret, hashSecret, isSecret } from './secret.ts';

/** A token to create. */
export interface NewToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly subgraphs?: readonly string[] | null | undefined;
  readonly environments?: readonly string[] | null | undefined;
}

/** Creates a token. Its secret is in the result, and nowhere else. Throws VALIDATION_ERROR. */
export async function createToken(
  { name, scopes, subgraphs, environments }: NewToken,
  { store, createId }: { readonly store: Pick<Store, 'insertToken'>; readonly createId: CreateId },
): Promise<{ readonly token: Token; readonly secret: string }> {
  checkText(name, { field: 'name', min: 1, max: 100 });
  rejectFaults(scopes.length > 0 ? [] : [{ field: 'scopes', message: 'must have at least one item' }]);
  checkSubgraphNames(subgraphs ?? [], 'subgraphs');
  for (const [i, name] of (environments ?? []).entries()) checkEnvironment(name, `environments.${String(i)}`);
  const secret = createSecret();
  const row = { id: createId('tok'), name, scopes: [...new Set(scopes)], subgraphs: subgraphs ?? null, environments: environments ?? null };
  return { token: await store.insertToken(row, hashSecret(secret)), secret };
}

/** Throws FORBIDDEN when a new token would allow more than its creator's. */
export function requireNarrower({ scopes, subgraphs, environments }: NewToken, creator: Token): void {
  const wider = scopes.find((scope) => !creator.scopes.includes(scope));
  if (wider) throw fail('FORBIDDEN', `The token cannot give the scope ${wider}, which it does not have.`);
  if (!isWithin(subgraphs, creator.subgraphs) || !isWithin(environments, creator.environments))
    throw fail('FORBIDDEN', 'A token cannot create a token with wider limits of environments or subgraphs than its own.');
}

function isWithin(wanted: readonly string[] | null | undefined, limit: readonly string[] | null): boolean {
  return limit === null || (wanted?.every((each) => limit.includes(each)) ?? false);
}

/** Returns the valid token of a secret; undefined for any other string. */
export async function findToken(secret: string | undefined, store: Pick<Store, 'findTokenByHash'>): Promise<Token | undefined> {
  return secret !== undefined && isSecret(secret) ? store.findTokenByHash(hashSecret(secret)) : undefined;
}
