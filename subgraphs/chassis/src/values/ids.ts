/** Makes ids: a type prefix, then 48 bits of time and 80 of chance in Crockford's base 32, so that ids sort by time (contract §2). */
import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;

export type CreateId = (prefix: string) => string;

/** `now` gives milliseconds since 1970. */
export function createIds({ now }: { now: () => number }): CreateId {
  return (prefix) => `${prefix}_${encodeTime(now())}${encodeChance(randomBytes(16))}`;
}

/** The type prefix of an id, or undefined if it is not of the shape that we give out. */
export function prefixOf(id: string): string | undefined {
  return /^([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}$/.exec(id)?.[1];
}

function encodeTime(milliseconds: number): string {
  let text = '';
  for (let i = 0, rest = milliseconds; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 32))
    text = `${ALPHABET.charAt(rest % 32)}${text}`;
  return text;
}

function encodeChance(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET.charAt(byte % 32)).join('');
}
