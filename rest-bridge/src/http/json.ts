/** Reads JSON strictly (RFC 8259, RFC 7493): what two parsers might read differently is refused. No I/O. */
import { fail } from '@trestle/schema/errors';

const MAX_DEPTH = 64;
const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The value of a JSON text. Throws VALIDATION_ERROR for what is not UTF-8 or not well-formed, is nested deeper than 64, has a name twice
 * in one object, half of a surrogate pair, or a number that can't be kept exactly (whole numbers beyond ±2^53) or at all.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = decode(bytes);
  checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('is not well-formed JSON');
  }
  scan(text);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refuse('is not UTF-8');
  }
}

/** Before anything recursive sees the text. Brackets inside of strings are passed over. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) throw refuse(`is nested deeper than ${String(MAX_DEPTH)}`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
}

const [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COLON, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x5c];

/** Walks over a text that is known to be well-formed. */
function scan(text: string): void {
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
  // Only an escape can write half of a pair: UTF-8 has none.
  if (!names && !literal.includes('\\u')) return;
  const value = JSON.parse(literal) as string;
  if (!value.isWellFormed()) throw refuse('has half of a surrogate pair');
  if (!names) return;
  if (names.has(value)) throw refuse('has a name twice in one object');
  names.add(value);
}

/** Gives the place of the number's last character. */
function checkNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  const [literal = '', fraction, exponent] = NUMBER.exec(text) ?? [];
  const value = Number(literal);
  if (!Number.isFinite(value) || (fraction === undefined && exponent === undefined && !Number.isSafeInteger(value)))
    throw refuse('has a number that is too large');
  return start + Math.max(literal.length, 1) - 1;
}

/** The place of the closing quote, or the end of a text that lacks one. */
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

function refuse(what: string) {
  return fail('VALIDATION_ERROR', `The body ${what}`);
}
