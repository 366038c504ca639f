/** The cookie that holds a refresh token (RFC 6265bis), and the tokens themselves. No I/O. */
import { createHash, randomBytes } from 'node:crypto';
import { fail } from '@trestle/schema/errors';
import { readCookies } from '@trestle/service/messages/cookies';

/** Lifetime of a refresh token, in seconds: 7 days from its last use. */
export const REFRESH_TOKEN_SECONDS = 7 * 24 * 60 * 60;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Reads and writes the cookie. */
export interface RefreshCookie {
  /**
   * Returns the token in the header `Cookie`, or undefined without one. Throws VALIDATION_ERROR for several cookies of the name: a page of
   * a sibling domain may have added one.
   */
  read(header: string | undefined): string | undefined;
  /** Returns the value of `Set-Cookie` that stores the token. */
  write(token: string): string;
  /** Returns the value of `Set-Cookie` that removes the cookie. */
  clear(): string;
}

/**
 * Creates the cookie. With `isSecure` browsers send it over HTTPS only, and its prefix `__Host-` binds it to one host (RFC 6265bis §4.1.3.2);
 * without, for plain HTTP on loopback, its name has no prefix.
 */
export function createRefreshCookie({ isSecure }: { readonly isSecure: boolean }): RefreshCookie {
  const name = isSecure ? '__Host-trestle-refresh' : 'trestle-refresh';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read(header) {
      const values = readCookies(header, name);
      if (values.length > 1) throw fail('VALIDATION_ERROR', `The request has several cookies named ${name}. Send exactly one.`);
      return values[0];
    },
    write: (token) => `${name}=${token}; Max-Age=${String(REFRESH_TOKEN_SECONDS)}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

/** Returns a new refresh token: 256 random bits. */
export function createRefreshToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the SHA-256 of a refresh token, or undefined for a string that cannot be one. */
export function hashRefreshToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : undefined;
}
