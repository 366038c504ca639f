/** Scans JSON values in bytes (RFC 8259) without white space. Each function takes where a value starts and returns where it ends; 0 for an invalid one. */
import type { Scanners } from '../../program/bytes-program.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const LETTER_U = 0x75;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
/** From an opening bracket or brace to the closing one. */
const TO_CLOSING = 2;
const UNICODE_ESCAPE_LENGTH = 6;

const MAX_INT = 2_147_483_647;
/** A number of at most this length with an exponent of two digits is finite. */
const MAX_FLOAT_LENGTH = 200;
const MAX_EXPONENT_DIGITS = 2;
/** Values of custom scalars that are nested deeper are left to `JSON.parse`. */
const MAX_DEPTH = 64;

/** 1 for each byte that ends a plain part of a string: control characters, quote, backslash. */
const ENDS_PLAIN = new Uint8Array(256).fill(1, 0, 0x20);
ENDS_PLAIN[QUOTE] = ENDS_PLAIN[BACKSLASH] = 1;
const IS_ESCAPE = new Uint8Array(256);
for (const character of '"\\/bfnrt') IS_ESCAPE[character.charCodeAt(0)] = 1;
const KEYWORDS = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/** The functions that generated walkers call. The bytes after a text must end with one that no value contains. */
export const SCANNERS: Scanners = {
  string: scanString,
  int: scanInt,
  float: scanFloat,
  any: (bytes, at) => (bytes[at] === 0x6e ? 0 : scanAny(bytes, at, 0)),
};

/** Scans the rest of a string after its opening quote. */
export function scanString(bytes: Uint8Array, at: number): number {
  let p = at;
  for (;;) {
    while (ENDS_PLAIN[bytes[p] as number] === 0) p++;
    if (bytes[p] === QUOTE) return p + 1;
    if (bytes[p] !== BACKSLASH) return 0;
    if (bytes[p + 1] === LETTER_U) {
      for (let digit = 2; digit < UNICODE_ESCAPE_LENGTH; digit++) if (!isHexDigit(bytes[p + digit] as number)) return 0;
      p += UNICODE_ESCAPE_LENGTH;
    } else {
      if (IS_ESCAPE[bytes[p + 1] as number] === 0) return 0;
      p += 2;
    }
  }
}

/** Scans an Int (GraphQL §3.5.1). Minus zero, fractions and exponents are left to `JSON.parse`. */
export function scanInt(bytes: Uint8Array, at: number): number {
  const isNegative = bytes[at] === MINUS;
  const start = isNegative ? at + 1 : at;
  let p = start;
  let value = 0;
  for (; isDigit(bytes[p] as number) && value <= MAX_INT; p++) value = value * 10 + (bytes[p] as number) - ZERO;
  if (p === start || (bytes[start] === ZERO && (isNegative || p > start + 1))) return 0;
  const next = bytes[p] as number;
  if (isDigit(next) || next === DOT || (next | 0x20) === LETTER_E) return 0;
  return value > (isNegative ? MAX_INT + 1 : MAX_INT) ? 0 : p;
}

/** Scans a finite number. */
export function scanFloat(bytes: Uint8Array, at: number): number {
  const start = bytes[at] === MINUS ? at + 1 : at;
  let p = skipDigits(bytes, start);
  if (p === start || (bytes[start] === ZERO && p > start + 1)) return 0;
  if (bytes[p] === DOT) {
    const fraction = p + 1;
    p = skipDigits(bytes, fraction);
    if (p === fraction) return 0;
  }
  if (((bytes[p] as number) | 0x20) === LETTER_E) {
    const sign = bytes[p + 1];
    const exponent = sign === MINUS || sign === 0x2b ? p + 2 : p + 1;
    p = skipDigits(bytes, exponent);
    if (p === exponent || p - exponent > MAX_EXPONENT_DIGITS) return 0;
  }
  return p - at > MAX_FLOAT_LENGTH ? 0 : p;
}

/** Scans any value. `depth` is that of the lists and objects around it. */
export function scanAny(bytes: Uint8Array, at: number, depth: number): number {
  const first = bytes[at] as number;
  if (first === QUOTE) return scanString(bytes, at + 1);
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return depth < MAX_DEPTH ? scanMembers(bytes, at, depth) : 0;
  if (first === MINUS || isDigit(first)) return scanFloat(bytes, at);
  const keyword = KEYWORDS.find((each) => each.every((byte, i) => bytes[at + i] === byte));
  return keyword ? at + keyword.length : 0;
}

function scanMembers(bytes: Uint8Array, at: number, depth: number): number {
  const opening = bytes[at] as number;
  const closing = opening + TO_CLOSING;
  let p = at + 1;
  if (bytes[p] === closing) return p + 1;
  for (;;) {
    if (opening === OPENING_BRACE) {
      if (bytes[p] !== QUOTE) return 0;
      p = scanString(bytes, p + 1);
      if (p === 0 || bytes[p++] !== COLON) return 0;
    }
    p = scanAny(bytes, p, depth + 1);
    if (p === 0) return 0;
    if (bytes[p] === closing) return p + 1;
    if (bytes[p++] !== COMMA) return 0;
  }
}

function skipDigits(bytes: Uint8Array, at: number): number {
  let p = at;
  while (isDigit(bytes[p] as number)) p++;
  return p;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
