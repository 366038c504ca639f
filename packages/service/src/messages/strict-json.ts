/** Parses JSON strictly (RFC 8259, RFC 7493): refuses everything that two parsers might interpret differently. No I/O. */
import { fail } from '@trestle/schema/errors';

const MAX_DEPTH = 64;
const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns the value of a request body. Throws VALIDATION_ERROR when the bytes are not UTF-8 or not well-formed JSON, when they are
 * nested deeper than 64 levels, when an object has a name twice, when a string has an unpaired surrogate (RFC 7493 §2.1), and for a
 * number that a double cannot hold exactly: an integer beyond ±(2^53 - 1), or one that is too large for any double (RFC 7493 §2.2).
 */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decode(bytes);
  checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('is not well-formed JSON');
  }
  checkTokens(text);
  return value;
}

/**
 * Throws VALIDATION_ERROR when JSON has more than `max` objects, lists and names of members: to parse them takes far more time and memory than their
 * bytes. Other text is left to the parser.
 */
export function limitJsonParts(text: string, max: number): void {
  let parts = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if ((code === OPEN_BRACE || code === OPEN_BRACKET || code === COLON) && ++parts > max)
      throw refuse(`has more than ${String(max)} objects, lists and names`);
  }
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refuse('is not valid UTF-8');
  }
}

/** Runs before anything recursive reads the text. Ignores brackets inside strings. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) throw refuse(`is nested deeper than ${String(MAX_DEPTH)} levels`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
}

const [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COLON, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x5c];

/** Checks the names, strings and numbers of well-formed JSON. */
function checkTokens(text: string): void {
  const objects: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === OPEN_BRACE) objects.push(new Set());
    else if (code === OPEN_BRACKET) objects.push(undefined);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) objects.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, i);
      checkString(text.slice(i, end + 1), isName(text, end) ? objects.at(-1) : undefined);
      i = end;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) i = checkNumber(text, i);
  }
}

function checkString(literal: string, names: Set<string> | undefined): void {
  // Only an escape can produce an unpaired surrogate: UTF-8 has none.
  if (!names && !literal.includes('\\u')) return;
  const value = JSON.parse(literal) as string;
  if (!value.isWellFormed()) throw refuse('contains an unpaired surrogate');
  if (!names) return;
  if (names.has(value)) throw refuse('contains a duplicate name in an object');
  names.add(value);
}

/** Returns the index of the last character of the number. */
function checkNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  const [literal = '', fraction, exponent] = NUMBER.exec(text) ?? [];
  const value = Number(literal);
  if (!Number.isFinite(value) || (fraction === undefined && exponent === undefined && !Number.isSafeInteger(value)))
    throw refuse('contains a number that cannot be represented exactly');
  return start + Math.max(literal.length, 1) - 1;
}

/** Returns the index of the closing quote, or the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}

function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (/\s/.test(text.charAt(next))) next++;
  return text.charCodeAt(next) === COLON;
}

function refuse(problem: string) {
  return fail('VALIDATION_ERROR', `Request body ${problem}.`);
}
