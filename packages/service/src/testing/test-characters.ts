/** Characters for property tests. */
import fc from 'fast-check';

/** How many surrogates Unicode has, from U+D800 on; they are no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };
const CODE_POINTS = 0x110000;

/**
 * Any character of Unicode, as the `unit` of `fc.string`. The unit `binary` of fast-check creates the same ones, but makes a table of all of them
 * first, which takes a second of processor time in each test file.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(CODE_POINTS - SURROGATES.count - 1)
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count));
