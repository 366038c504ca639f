/** Ids: a type prefix, then 48 bits of time and 80 random bits in Crockford's base 32, so that ids sort by time (contract §2). */
import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;

/** Returns a new id with this prefix, e.g. `usr`. */
export type CreateId = (prefix: string) => string;

/** Creates the function that creates ids. `now` returns milliseconds since 1970. */
export function createIds({ now }: { now: () => number }): CreateId {
  return (prefix) => `${prefix}_${encodeTime(now())}${encodeRandom(randomBytes(16))}`;
}

/** Returns the type prefix of an id, or undefined for a string that is not an id. */
export function prefixOf(id: string): string | undefined {
  return /^([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}$/.exec(id)?.[1];
}

/** Returns a predicate: whether a string is an id with this prefix. */
export function hasPrefix(prefix: string): (id: string) => boolean {
  return (id) => prefixOf(id) === prefix;
}

function encodeTime(milliseconds: number): string {
  let encoded = '';
  for (let i = 0, rest = milliseconds; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 32))
    encoded = `${ALPHABET.charAt(rest % 32)}${encoded}`;
  return encoded;
}

function encodeRandom(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET.charAt(byte % 32)).join('');
}
