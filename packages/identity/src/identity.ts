/** The caller of a request: its role, and the credential in the request's headers (spec §5). No I/O. */
import { fail } from '@trestle/schema/errors';

/** Lists the roles, from the least to the most privileged. */
export const ROLES = ['USER', 'MODERATOR', 'ADMIN'] as const;
/** Names one role. */
export type Role = (typeof ROLES)[number];

/** Identifies a caller whose token was verified. An anonymous caller is `null`. */
export interface Caller {
  readonly userId: string;
  readonly role: Role;
  /** The claim `jti` of the token. */
  readonly tokenId: string;
  /** Token generation of the account when the token was issued. Increasing it on the account revokes all tokens of lower generations. */
  readonly generation: number;
  /** Expiry of the token, in seconds since the epoch. */
  readonly expiresAt: number;
}

/** Returns whether the caller has the role or a higher one: USER < MODERATOR < ADMIN. */
export function hasRole(caller: Caller | null, role: Role): boolean {
  return caller !== null && ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

/**
 * Returns the bearer token of a request, or undefined when the request has no credential. `rawHeaders` are `req.rawHeaders` (name, value,
 * name, value …), because `req.headers` hides a second `Authorization`. Throws VALIDATION_ERROR for more than one credential
 * (contract §4). Throws UNAUTHORIZED for a credential of another scheme (spec §5.7): API keys are not supported yet, and a request with
 * one must not be served as anonymous.
 */
export function readBearerToken(rawHeaders: readonly string[]): string | undefined {
  let name: string | undefined;
  let value = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const read = (rawHeaders[i] as string).toLowerCase();
    if (read !== 'authorization' && read !== 'x-api-key') continue;
    if (name !== undefined) throw fail('VALIDATION_ERROR', 'Send exactly one credential');
    name = read;
    value = rawHeaders[i + 1] as string;
  }
  if (name === undefined) return undefined;
  const token = name === 'authorization' ? BEARER.exec(value)?.[1] : undefined;
  if (token === undefined) throw fail('UNAUTHORIZED', 'The credential is not a bearer token');
  return token;
}
