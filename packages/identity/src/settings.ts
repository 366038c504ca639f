/** The settings of every process that verifies tokens; each config.ts spreads them into its own. */
import { setting } from '@trestle/env';
import { parseTrustedIssuers } from './verification/trusted-issuers.ts';

/** The sources of keys. `requireTokenKeys` checks what they say together. */
export const verificationSettings = {
  TOKEN_PUBLIC_KEY_FILE: setting.readablePath().optional(),
  TOKEN_JWKS_URL: setting.url('http:', 'https:').optional(),
  TRUSTED_ISSUERS_FILE: setting.parsedFile(parseTrustedIssuers).optional(),
};
