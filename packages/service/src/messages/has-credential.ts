/** Finds credentials in requests that nothing has authenticated yet (spec §5.1, §5.2). No I/O. */
import type { IncomingMessage } from 'node:http';

/** The cookies that are credentials, by a part of their names: the refresh token, and the session at the authorization server. */
const CREDENTIAL_COOKIE = /(?:^|[;\s])(?:__Host-)?trestle-(?:refresh|oauth-session)=/;

/** Returns whether a request has a credential in its headers or its URL, valid or not. */
export function hasCredential({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>): boolean {
  if (headers.authorization !== undefined || headers['x-api-key'] !== undefined) return true;
  return CREDENTIAL_COOKIE.test(headers.cookie ?? '') || /[?&]apiKey=/.test(url);
}
