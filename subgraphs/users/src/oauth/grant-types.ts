/** The grant types that the authorization server offers, as RFC 6749 and RFC 8628 name them. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Short names for the command `oauth:client`, and what the protocol calls them. */
export const GRANT_TYPES = {
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  client_credentials: 'client_credentials',
  device_code: DEVICE_CODE_GRANT,
} as const;

/** One of the short names. */
export type GrantName = keyof typeof GRANT_TYPES;
