/** Removes the white space between the tokens of a JSON text (RFC 8259 §2): walkers know texts without it. No I/O. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Strings contain no control characters. */
const FIRST_OF_STRINGS = 0x20;
const IS_SPACE = new Uint8Array(256);
for (const character of ' \t\n\r') IS_SPACE[character.charCodeAt(0)] = 1;
/** 1 for each byte of a number or of `true`, `false` and `null`: two of them with white space between are two tokens. */
const IS_LITERAL = new Uint8Array(256).fill(1, 0x21);
for (const character of '{}[]:,"') IS_LITERAL[character.charCodeAt(0)] = 0;

/**
 * Removes the white space of a JSON text in place. The text must end with a zero byte, and does so afterwards. Returns the new end, or 0 where it
 * notices that the text is not JSON. It does not notice every fault, but never makes an invalid text valid.
 */
export function compact(bytes: Uint8Array, start: number, end: number): number {
  let to = start;
  let p = start;
  while (p < end) {
    let byte = bytes[p] as number;
    if (IS_SPACE[byte] === 1) {
      do p++;
      while (IS_SPACE[bytes[p] as number] === 1);
      if (to > start && IS_LITERAL[bytes[to - 1] as number] === 1 && IS_LITERAL[bytes[p] as number] === 1) return 0;
      continue;
    }
    bytes[to++] = byte;
    p++;
    if (byte !== QUOTE) continue;
    // Most strings are short: a loop moves them in a third of the time that a scan and `copyWithin` take.
    do {
      byte = bytes[p++] as number;
      // The zero byte after the text ends a string without a closing quote.
      if (byte < FIRST_OF_STRINGS || p > end) return 0;
      bytes[to++] = byte;
      if (byte === BACKSLASH) bytes[to++] = bytes[p++] as number;
    } while (byte !== QUOTE);
  }
  bytes[to] = 0;
  return to;
}
