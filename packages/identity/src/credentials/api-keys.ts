/** The form of API keys: what is in a key, how it is recognised, and what is stored of it (spec §5.2). No I/O. */
import { createHmac, randomBytes } from 'node:crypto';

/** Begins every key, so that secret scanners find keys in source code and logs. */
const PREFIX = 'trestle_live_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 characters of 62 have 190 bits. */
const RANDOM_CHARACTERS = 32;
/** 62^6 > 2^32 */
const CHECKSUM_CHARACTERS = 6;
/** Bytes from here on are discarded, so that every character is equally likely. */
const FIRST_BIASED_BYTE = 256 - (256 % ALPHABET.length);

/** Matches a key anywhere in a text, for secret scanners; the last six characters are the checksum. */
export const API_KEY_PATTERN = /\btrestle_live_[0-9A-Za-z]{38}\b/;

const WHOLE = /^trestle_live_[0-9A-Za-z]{38}$/;
/** The length of every key. */
export const API_KEY_CHARACTERS = PREFIX.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;

/** The number of bytes of the secret that keys are hashed with. */
export const MIN_SECRET_BYTES = 32;

/** Creates a key: the prefix, 32 random characters of base 62, and the CRC-32 of all before it in six characters of base 62. */
export function createApiKey(): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < FIRST_BIASED_BYTE && random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return withChecksum(`${PREFIX}${random}`);
}

/** Returns whether a string has the form of a key and a correct checksum. A mistyped or invented key is refused without a look-up. */
export function isApiKey(value: string): boolean {
  return value.length === API_KEY_CHARACTERS && WHOLE.test(value) && withChecksum(value.slice(0, -CHECKSUM_CHARACTERS)) === value;
}

/** Returns what is stored of a key: its HMAC-SHA-256. Without the secret, a copy of the database is no help to find keys. */
export function hashApiKey(secret: string, key: string): Buffer {
  return createHmac('sha256', secret).update(key).digest();
}

/** Returns the last four characters of a key, by which its owner recognises it. */
export function lastFourOf(key: string): string {
  return key.slice(-4);
}

/** Parses the content of a file with the secret. Throws an Error when it is too short. */
export function parseApiKeySecret(text: string): string {
  const secret = text.trim();
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) throw new Error(`must name a file with at least ${String(MIN_SECRET_BYTES)} bytes`);
  return secret;
}

function withChecksum(body: string): string {
  let rest = crc32(body);
  let checksum = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++, rest = Math.floor(rest / ALPHABET.length))
    checksum = `${ALPHABET.charAt(rest % ALPHABET.length)}${checksum}`;
  return `${body}${checksum}`;
}

/** CRC-32 of ISO 3309, as in gzip. Node.js has it from 22.2 on only. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
