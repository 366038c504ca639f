/** The form of tokens: what is in a secret, and what is stored of it. No I/O. */
import { createHash, randomBytes } from 'node:crypto';

/** Begins every secret, so that secret scanners find them, and logs mask them (packages/log). */
const PREFIX = 'trestle_reg_';
const FORM = /^trestle_reg_[0-9a-f]{48}$/;

/** Creates a secret with 192 random bits. */
export function createSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('hex')}`;
}

/** Returns whether a string has the form of a secret: any other is refused without a look-up. */
export function isSecret(value: string): boolean {
  return FORM.test(value);
}

/** Returns what is stored: the SHA-256. A secret has enough random bits that its hash need not be slow or salted. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
