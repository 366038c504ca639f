/** Removes secrets from text and bounds its size, in time that is linear in the length of the text. */

/**
 * Every pattern begins with an assertion that holds only where a run of its characters begins. Without it, the engine scans the same run again from each of its
 * characters, which is quadratic.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/(?<![^\s"'<>@:/])[^\s"'<>@:/]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\w)(\w+:\/\/[^\s:/@]*):[^\s@/]+@/g, '$1:[password]@'],
  [/\$argon2\w+\$\S+/g, '[hash]'],
];

/** Characters of the input that `mask` reads for each byte that it may return: secrets are longer than what replaces them. */
const READ_FACTOR = 4;
const ELLIPSIS = '…';

/** Returns the text without tokens, e-mail addresses, password hashes and passwords in URLs, cut to `maxBytes` bytes of UTF-8. */
export function mask(text: string, maxBytes = 8 * 1024): string {
  const masked = SECRETS.reduce((rest, [pattern, name]) => rest.replace(pattern, name), readable(text, READ_FACTOR * maxBytes));
  return cut(masked, maxBytes);
}

/** The beginning of the text, up to the last white space: half of a secret would not be recognized as one. */
function readable(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const start = text.slice(0, maxLength);
  return `${/^[\s\S]*\s/.exec(start)?.[0] ?? ''}${ELLIPSIS}`;
}

/** Returns the text, or as much of it as fits into `maxBytes` bytes of UTF-8 together with an ellipsis. */
export function cut(text: string, maxBytes: number): string {
  // No character takes more than three bytes for each of its UTF-16 units.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ELLIPSIS);
  // A character must not be cut in two: its later bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}${ELLIPSIS}`;
}
