/** Who is calling: roles, and the credential as it stands in the request's headers (spec §5). */
import { fail } from '@trestle/schema/errors';

export const ROLES = ['USER', 'MODERATOR', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** A caller whose token was verified. An anonymous caller is `null`. */
export interface Caller {
  readonly userId: string;
  readonly role: Role;
  /** The token's `jti`. */
  readonly tokenId: string;
  /** Of the account's tokens: when it grows, all that were given before hold no longer. */
  readonly generation: number;
  /** When the token ends, in seconds since 1970. */
  readonly expiresAt: number;
}

/** Whether the caller has the role or a higher one: USER < MODERATOR < ADMIN. */
export function hasRole(caller: Caller | null, role: Role): boolean {
  return caller !== null && ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

/**
 * Reads the bearer token of a request from its raw headers (`req.rawHeaders`: name, value, name, value …; `req.headers`
 * would hide a second `Authorization`). Gives undefined when there is no credential. Throws VALIDATION_ERROR for more
 * than one credential (contract §4), and UNAUTHORIZED for one of another scheme (spec §5.7): API keys have no door yet,
 * and must not pass for anonymous.
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
