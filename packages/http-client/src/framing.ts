/** Decides from the head of a response how long its body is, and whether the connection may be used again (RFC 9112 §6.3, §9). No I/O. */
import { SPACE, TAB, isDigit } from './octets.ts';
import { invalid } from './response-errors.ts';
import type { ResponseHead } from './response-head.ts';

/** Results of {@link readBodyLength} for bodies whose head does not state a length. */
export const CHUNKED = -1;
/** The body ends with the connection. */
export const UNTIL_CLOSE = -2;

/** Fifteen digits are exact in a double. */
const MAX_LENGTH_DIGITS = 15;

/**
 * Returns the length of the body in bytes, CHUNKED or UNTIL_CLOSE. Throws INVALID_RESPONSE where two recipients could disagree about the length
 * (RFC 9112 §11.1): two lengths, a length beside chunks, a length that is no number, and any transfer coding besides one `chunked`.
 */
export function readBodyLength(head: ResponseHead): number {
  const coding = head.find('transfer-encoding');
  const length = head.find('content-length');
  if (coding >= 0 && length >= 0) throw invalid('The response has both Content-Length and Transfer-Encoding.');
  if (length >= 0 && head.find('content-length', length + 1) >= 0) throw invalid('The response has several Content-Length fields.');
  const stated = length >= 0 ? readLength(head, length) : UNTIL_CLOSE;
  if (coding >= 0) {
    if (head.isHttp10) throw invalid('An HTTP/1.0 response has no Transfer-Encoding.');
    const isChunked = head.hasValue(coding, 'chunked') && head.find('transfer-encoding', coding + 1) < 0;
    if (!isChunked) throw invalid('The only supported Transfer-Encoding is chunked.');
  }
  // These have no body, whatever their fields state (RFC 9110 §15.3.5, §15.4.5).
  if (head.status === 204 || head.status === 304) return 0;
  return coding >= 0 ? CHUNKED : stated;
}

function readLength(head: ResponseHead, field: number): number {
  const end = head.valueEnd(field);
  const start = head.valueStart(field);
  let length = 0;
  for (let i = start; i < end; i++) {
    const octet = head.octet(i);
    if (!isDigit(octet)) throw invalid('Content-Length is not a number.');
    length = length * 10 + octet - 0x30;
  }
  if (end === start || end - start > MAX_LENGTH_DIGITS) throw invalid('Content-Length is not a number of at most 15 digits.');
  return length;
}

/** Returns whether the server keeps the connection open (RFC 9112 §9.3). Connections of HTTP/1.0 are not kept. */
export function isPersistent(head: ResponseHead): boolean {
  if (head.isHttp10) return false;
  for (let field = head.find('connection'); field >= 0; field = head.find('connection', field + 1)) {
    if (head.hasValue(field, 'keep-alive')) continue;
    const options = head.value(field).toLowerCase().split(',');
    if (options.some((option) => option.trim() === 'close')) return false;
  }
  return true;
}

/** Returns the number of a parameter of `Keep-Alive`, such as `timeout=5`; undefined when it is absent (RFC 2068 §19.7.1.1). */
export function readKeepAlive(head: ResponseHead, parameter: 'timeout' | 'max'): number | undefined {
  const field = head.find('keep-alive');
  if (field < 0) return undefined;
  const end = head.valueEnd(field);
  let start = head.valueStart(field);
  while (start < end) {
    let next = start;
    while (next < end && head.octet(next) !== COMMA) next++;
    const value = readParameter(head, { start, end: next }, parameter);
    if (value !== undefined) return value;
    start = next + 1;
  }
  return undefined;
}

const COMMA = 0x2c;
const EQUALS = 0x3d;
/** A day in seconds has five digits; more are no useful hint. */
const MAX_HINT_DIGITS = 6;

function readParameter(head: ResponseHead, { start, end }: { start: number; end: number }, parameter: string): number | undefined {
  let i = start;
  while (i < end && (head.octet(i) === SPACE || head.octet(i) === TAB)) i++;
  for (let k = 0; k < parameter.length; k++, i++) if (i >= end || (head.octet(i) | 0x20) !== parameter.charCodeAt(k)) return undefined;
  if (i >= end || head.octet(i++) !== EQUALS) return undefined;
  let value = 0;
  const digits = i;
  for (; i < end && isDigit(head.octet(i)); i++) value = value * 10 + head.octet(i) - 0x30;
  return i > digits && i - digits <= MAX_HINT_DIGITS ? value : undefined;
}
