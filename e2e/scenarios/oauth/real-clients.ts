/** What the real clients need to accept an issuer without TLS: this machine. */
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

/* eslint-disable @typescript-eslint/no-deprecated -- both are deprecated only to make them stand out */
/** The option of oauth4webapi. */
export const insecure = { [oauth.allowInsecureRequests]: true };
/** The option of openid-client. */
export const allowLoopback = openid.allowInsecureRequests;
/** The same for a configuration that was not discovered. */
export function allowLoopbackIn(config: openid.Configuration): void {
  openid.allowInsecureRequests(config);
}
/* eslint-enable @typescript-eslint/no-deprecated */
