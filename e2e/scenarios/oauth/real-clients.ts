/** What the real clients need to accept an issuer without TLS: this machine. */
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

/* eslint-disable @typescript-eslint/no-deprecated -- both are deprecated only to make them stand out */
/** The option of oauth4webapi. */
export const insecure = { [oauth.allowInsecureRequests]: true };
/** The option of openid-client. */
export const allowLoopback = openid.allowInsecureRequests;
/* eslint-enable @typescript-eslint/no-deprecated */
