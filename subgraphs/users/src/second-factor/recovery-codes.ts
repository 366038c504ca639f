/** Codes that replace a lost second factor: ten, each for one use. No I/O. */
import { createHmac, hkdfSync, randomInt } from 'node:crypto';

const CODES = 10;
const CHARACTERS = 10;
/** Without characters that are easily confused: 10 of 32 have 50 bits. */
const ALPHABET = '23456789abcdefghijkmnpqrstuvwxyz';

/** Makes codes, and hashes them. */
export interface RecoveryCodes {
  /** Returns ten new codes, such as `k7m2p-x9q4r`. */
  create(): string[];
  /** Returns the HMAC of a code of an account; case, spaces and hyphens do not matter. */
  hash(userId: string, code: string): Buffer;
}

/** Creates it; the key is derived from the secret of this deployment. */
export function createRecoveryCodes(secret: string): RecoveryCodes {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'trestle recovery codes', 32));
  return {
    create: () => Array.from({ length: CODES }, createCode),
    hash: (userId, code) =>
      createHmac('sha256', key)
        .update(`${userId} ${normalize(code)}`)
        .digest(),
  };
}

function createCode(): string {
  const code = Array.from({ length: CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  return `${code.slice(0, CHARACTERS / 2)}-${code.slice(CHARACTERS / 2)}`;
}

function normalize(code: string): string {
  return code.toLowerCase().replace(/[\s-]/g, '');
}
