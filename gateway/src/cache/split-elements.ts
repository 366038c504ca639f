/** Splits JSON lists of objects without parsing them. No I/O. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `{` and `[`, `}` and `]` differ in one bit. */
const BRACKET_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Returns the elements of a list, given as valid JSON without the brackets around it. */
export function splitElements(text: string): string[] {
  const elements: string[] = [];
  let start = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = skipString(text, i);
    else if ((code | BRACKET_BIT) === OPENING) depth++;
    else if ((code | BRACKET_BIT) === CLOSING) depth--;
    else if (code === COMMA && depth === 0) {
      elements.push(text.slice(start, i));
      start = i + 1;
    }
  }
  if (text !== '') elements.push(text.slice(start));
  return elements;
}

/** Returns the position of the closing quote. */
function skipString(text: string, opening: number): number {
  let i = opening + 1;
  for (let code = text.charCodeAt(i); code !== QUOTE && i < text.length; code = text.charCodeAt(i)) i += code === BACKSLASH ? 2 : 1;
  return i;
}
