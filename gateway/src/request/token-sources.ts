/** Other places of access tokens than `Authorization`: headers and cookies that the settings name. No I/O. */
import { fail } from '@trestle/schema/errors';
import type { IsAllowedOrigin, OriginRequest } from '@trestle/service/edge/allowed-origin';
import { readCookies } from '@trestle/service/messages/cookies';
import { hasPreflightedHeader, isJsonType } from './preflighted.ts';

/** A place that may hold a token. */
export type TokenSource =
  | { readonly kind: 'authorization' }
  /** `prefix` stands before the token with a space between, and has no case. */
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string | undefined }
  | { readonly kind: 'cookie'; readonly name: string };

/** Returns the names of request headers that these places read, besides `Authorization`. */
export function findSourceHeaders(sources: readonly TokenSource[] = []): string[] {
  return sources.flatMap((source) => (source.kind === 'header' ? [source.name] : source.kind === 'cookie' ? ['cookie'] : []));
}

/** A request whose token is looked for. */
export interface TokenRequest extends OriginRequest {
  readonly method?: string | undefined;
}

/** What a request has besides. */
export interface OtherCredentials {
  /** Returns a header, or what replaces it. */
  readonly valueOf: (name: string) => string | readonly string[] | undefined;
  readonly hasApiKey: boolean;
}

/** Finds tokens outside of `Authorization`. */
export interface TokenFinder {
  /**
   * Returns the token of the first place that has one; undefined where this is `Authorization`, and where no place has one. Throws UNAUTHORIZED for a
   * token that is not well-formed, VALIDATION_ERROR for one beside an API key, and FORBIDDEN for one in a cookie of a request that pages of other
   * sites could have a browser send.
   */
  find(request: TokenRequest, others: OtherCredentials): string | undefined;
}

/** Creates the search; undefined where `Authorization` is the only place. */
export function createTokenFinder(sources: readonly TokenSource[] | undefined, isAllowedOrigin: IsAllowedOrigin): TokenFinder | undefined {
  if (!sources || sources.every(({ kind }) => kind === 'authorization')) return undefined;
  return {
    find(request, { valueOf, hasApiKey }) {
      for (const source of sources) {
        if (source.kind === 'authorization') {
          if (valueOf('authorization') !== undefined) return undefined;
        } else if (source.kind === 'header') {
          const value = valueOf(source.name);
          if (value === undefined) continue;
          if (hasApiKey) throw fail('VALIDATION_ERROR', 'Send exactly one credential.');
          return checkToken(removePrefix(String(value), source.prefix));
        } else if (!hasApiKey) {
          // Browsers send cookies on their own, so one beside an API key is no second credential.
          const value = readCookie(request.headers.cookie, source.name);
          if (value === undefined) continue;
          if (mayBeForged(request, isAllowedOrigin)) throw fail('FORBIDDEN', MAY_BE_FORGED);
          return checkToken(value);
        }
      }
      return undefined;
    },
  };
}

const MAY_BE_FORGED =
  'A request whose token is in a cookie needs an allowed Origin, or the header `Apollo-Require-Preflight: 1`; a WebSocket needs the Origin.';
const VALUE = /^[\w.~+/=-]+$/;

function checkToken(value: string | undefined): string {
  if (value !== undefined && VALUE.test(value)) return value;
  throw fail('UNAUTHORIZED', 'The access token has an unknown form.', { isInvalidCredential: true });
}

/** Returns what is behind the prefix and spaces; undefined without it. */
function removePrefix(value: string, prefix: string | undefined): string | undefined {
  if (prefix === undefined) return value;
  const { length } = prefix;
  return value.slice(0, length).toLowerCase() === prefix.toLowerCase() && value[length] === ' ' ? value.slice(length).trim() : undefined;
}

/** Returns the value of a cookie; undefined where it is empty or absent. Throws UNAUTHORIZED for several values: which of them is the own one is not known. */
function readCookie(header: string | undefined, name: string): string | undefined {
  const [value, ...others] = new Set(readCookies(header, name).filter((each) => each !== ''));
  if (others.length > 0) throw fail('UNAUTHORIZED', 'The cookie with the access token has several values.', { isInvalidCredential: true });
  return value;
}

/** Returns whether a page of another site could have a browser send the request, with its cookies. */
function mayBeForged(request: TokenRequest, isAllowedOrigin: IsAllowedOrigin): boolean {
  const { headers, method } = request;
  if (headers.origin !== undefined) return !isAllowedOrigin(request);
  // A browser names the origin of every WebSocket, and pages may open them to any server.
  if (headers.upgrade !== undefined) return true;
  if (headers['sec-fetch-site'] === 'same-origin') return false;
  if (hasPreflightedHeader(headers)) return false;
  const isSimple = method === 'GET' || method === 'HEAD' || method === 'POST' || method === undefined;
  return isSimple && !(method === 'POST' && isJsonType(headers['content-type'] ?? ''));
}
