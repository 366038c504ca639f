/** Removes secrets from strings and bounds their size, in time linear in the length of the string. No I/O. */

/**
 * Every pattern begins with a lookbehind that matches only at the start of a run of its characters. Without it, the engine would scan
 * the same run again from each of its characters, which takes quadratic time.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/(?<![^\s"'<>@:/])[^\s"'<>@:/]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\w)(\w+:\/\/[^\s:/@]*):[^\s@/]+@/g, '$1:[password]@'],
  [/\$argon2\w+\$\S+/g, '[hash]'],
  // API keys and tokens of the registry, complete or cut.
  [/(?<!\w)trestle_(?:live|reg)_\w*/g, '[key]'],
];

/** What every secret contains. Most strings have none of it. */
const HINT = /eyJ|[@$]|trestle_/;

/** Characters of the input that `mask` reads per byte of its result: secrets are longer than their replacements. */
const READ_FACTOR = 4;
const ELLIPSIS = '…';

/** Returns the string with tokens, API keys, e-mail addresses, password hashes and passwords in URLs replaced, cut to `maxBytes` bytes of UTF-8. */
export function mask(text: string, maxBytes = 8 * 1024): string {
  const read = readable(text, READ_FACTOR * maxBytes);
  const masked = HINT.test(read) ? SECRETS.reduce((rest, [pattern, name]) => rest.replace(pattern, name), read) : read;
  return cut(masked, maxBytes);
}

/** Returns the start of the string up to the last white space, because a part of a secret would not be recognized. */
function readable(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const start = text.slice(0, maxLength);
  return `${/^[\s\S]*\s/.exec(start)?.[0] ?? ''}${ELLIPSIS}`;
}

/** Returns the string, or its longest start that fits into `maxBytes` bytes of UTF-8 together with an ellipsis. */
export function cut(text: string, maxBytes: number): string {
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ELLIPSIS);
  // Continuation bytes of a character start with the bits 10.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}${ELLIPSIS}`;
}
