/** Removes the white space between the tokens of a JSON text (RFC 8259 §2): walkers know texts without it. No I/O. */
import { scanString } from './scanners.ts';

const QUOTE = 0x22;
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
  for (let p = start; p < end;) {
    const byte = bytes[p] as number;
    if (byte === QUOTE) {
      const after = scanString(bytes, p + 1);
      if (after === 0 || after > end) return 0;
      if (to < p) bytes.copyWithin(to, p, after);
      to += after - p;
      p = after;
    } else if (IS_SPACE[byte] === 1) {
      do p++;
      while (IS_SPACE[bytes[p] as number] === 1);
      if (to > start && IS_LITERAL[bytes[to - 1] as number] === 1 && IS_LITERAL[bytes[p] as number] === 1) return 0;
    } else {
      bytes[to++] = byte;
      p++;
    }
  }
  bytes[to] = 0;
  return to;
}
