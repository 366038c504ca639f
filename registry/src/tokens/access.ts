/** What tokens may do. Pure: no database, no clock. */
import { fail } from '@trestle/schema/errors';
import type { Token, TokenScope } from '../records.ts';

/** What a request needs. */
export interface Need {
  /** One of them is enough; none for what every token may read. */
  readonly scopes: readonly TokenScope[];
  readonly environments?: readonly string[];
  readonly subgraphs?: readonly string[];
}

/** Throws FORBIDDEN unless the token has one of the scopes, and is not limited to other environments or subgraphs. */
export function requireAccess(token: Token, { scopes, environments = [], subgraphs = [] }: Need): void {
  if (scopes.length > 0 && !scopes.some((scope) => token.scopes.includes(scope)))
    throw fail('FORBIDDEN', `The token needs the scope ${scopes.join(' or ')}.`);
  for (const environment of environments)
    if (!mayUse(token.environments, environment)) throw fail('FORBIDDEN', `The token is not valid for the environment \`${environment}\`.`);
  for (const subgraph of subgraphs)
    if (!mayUse(token.subgraphs, subgraph)) throw fail('FORBIDDEN', `The token is not valid for the subgraph \`${subgraph}\`.`);
}

/** Returns whether a token may read an environment. */
export function mayRead({ environments }: Token, environment: string): boolean {
  return mayUse(environments, environment);
}

function mayUse(limit: readonly string[] | null, name: string): boolean {
  return limit === null || limit.includes(name);
}

/** Returns who acts with a token, as it is recorded. */
export function actorOf({ name, id }: Token): string {
  return `${name} (${id})`;
}
