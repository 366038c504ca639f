/** The tokens in mailed links. No I/O. */
import { createHash, createHmac, hkdfSync } from 'node:crypto';

/** How long a link is valid, in minutes. */
export const LINK_MINUTES = 30;
const TOKEN = /^[\w-]{43}$/;

/** Returns the token that the job with this id mails. */
export type ToResetToken = (jobId: string) => string;

/**
 * Creates the function that makes tokens. A token follows from the secret of this deployment and the id of its job: it is stored nowhere, and a
 * mail that is sent again has the same link.
 */
export function createResetTokens(secret: string): ToResetToken {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'trestle password reset', 32));
  return (jobId) => createHmac('sha256', key).update(jobId).digest('base64url');
}

/** Returns the hash of a token; undefined for a string that is none. */
export function hashResetToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : undefined;
}
