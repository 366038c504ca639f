/** Classes of octets in HTTP fields (RFC 9110 §5). */

/** Carriage return. */
export const CR = 0x0d;
/** Line feed. */
export const LF = 0x0a;
/** A space. */
export const SPACE = 0x20;
/** A tab. */
export const TAB = 0x09;
/** A colon. */
export const COLON = 0x3a;

const TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 1 for each octet of a token (RFC 9110 §5.6.2). */
export const IS_TOKEN = Uint8Array.from({ length: 256 }, (_, octet) => (TOKEN_CHARACTERS.includes(String.fromCharCode(octet)) ? 1 : 0));

/** 1 for each octet of a field value or a reason phrase: tab, visible characters, space, obs-text (RFC 9110 §5.5). */
export const IS_VALUE = Uint8Array.from({ length: 256 }, (_, octet) => (octet === TAB || (octet >= SPACE && octet !== 0x7f) ? 1 : 0));

/** Returns whether the octet is a digit. */
export function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet <= 0x39;
}

/** Returns whether the octets from `start` spell `name`, which is in lower case, in whichever case. The range must lie within `bytes`. */
export function spells(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const octet = bytes[start + i] as number;
    const lower = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
    if (lower !== name.charCodeAt(i)) return false;
  }
  return true;
}
