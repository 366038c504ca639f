/**
 * Parses the head of the one shape of requests that the lean reader reads: a POST of JSON to one path with a known length. Everything that affects
 * framing in any other way, or that two parsers could read differently, is not parsed here (RFC 9112 §11). No I/O.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isHost } from '../host.ts';

/** What a head must be. */
export interface HeadShape {
  /** The bytes of the whole request line, with its line end. */
  readonly requestLine: Buffer;
  /** The longest head, in bytes. */
  readonly maxBytes: number;
}

/** A head of that shape. */
export interface RequestHead {
  /** Names as they were sent, and values, in turn. */
  readonly rawHeaders: readonly string[];
  /** By names in lower case, frozen. No name occurs twice. */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the head, with the empty line. */
  readonly length: number;
  /** Bytes of the body. */
  readonly bodyLength: number;
}

const MAX_HEADERS = 64;
const [TAB, LF, CR, SPACE, COLON, TILDE] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7e];

/** The characters of a token (RFC 9110 §5.6.2): 1 by code. */
const TOKEN = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") TOKEN[character.charCodeAt(0)] = 1;

/** A request with one of these headers is framed, or answered, in another way. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'keep-alive', 'proxy-connection', 'http2-settings', 'content-encoding'],
]);

/** Returns the parameters of a head's shape. */
export function toHeadShape(path: string, maxHeaderBytes: number): HeadShape {
  // Node.js decides about what comes close to the limit: it does not count every byte.
  return { requestLine: Buffer.from(`POST ${path} HTTP/1.1\r\n`, 'latin1'), maxBytes: Math.floor(maxHeaderBytes / 2) };
}

/** Returns the head at the beginning of the bytes; undefined when they begin in any other way, or the head is not whole. Never throws. */
export function parseHead(bytes: Buffer, { requestLine, maxBytes }: HeadShape): RequestHead | undefined {
  if (bytes.length < requestLine.length || requestLine.compare(bytes, 0, requestLine.length) !== 0) return undefined;
  const end = Math.min(bytes.length, maxBytes);
  const rawHeaders: string[] = [];
  const headers: IncomingHttpHeaders = {};
  let at = requestLine.length;
  while (bytes[at] !== CR) {
    at = parseLine(bytes, { at, end }, { rawHeaders, headers });
    if (at < 0 || rawHeaders.length > 2 * MAX_HEADERS) return undefined;
  }
  if (at + 1 >= end || bytes[at + 1] !== LF) return undefined;
  const bodyLength = readLength(headers['content-length']);
  if (bodyLength === 0 || headers.host === undefined || !isHost(headers.host) || !isPlain(headers)) return undefined;
  // Several requests have them.
  return { rawHeaders, headers: Object.freeze(headers), length: at + 2, bodyLength };
}

interface Range {
  readonly at: number;
  readonly end: number;
}

/** Adds one header. Returns where the next line begins; -1 for a line that is not whole, not well-formed, or refused. */
function parseLine(
  bytes: Buffer,
  { at, end }: Range,
  { rawHeaders, headers }: { rawHeaders: string[]; headers: IncomingHttpHeaders },
): number {
  let colon = at;
  while (colon < end && TOKEN[bytes[colon] as number] === 1) colon++;
  // Also a line that begins with a space (obs-fold), and a space before the colon.
  if (colon === at || colon >= end || bytes[colon] !== COLON) return -1;
  let from = colon + 1;
  while (from < end && isSpace(bytes[from] as number)) from++;
  let close = from;
  while (close < end && isText(bytes[close] as number)) close++;
  if (close + 1 >= end || bytes[close] !== CR || bytes[close + 1] !== LF) return -1;
  let to = close;
  while (to > from && isSpace(bytes[to - 1] as number)) to--;
  const raw = bytes.toString('latin1', at, colon);
  const name = raw.toLowerCase();
  // A name that occurs twice, and those that every object has.
  if (name in headers || REFUSED.has(name)) return -1;
  const value = bytes.toString('latin1', from, to);
  rawHeaders.push(raw, value);
  headers[name] = value;
  return close + 2;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** Printable ASCII and tabs. Other bytes of a value (obs-text) are left to Node.js. */
function isText(byte: number): boolean {
  return (byte >= SPACE && byte <= TILDE) || byte === TAB;
}

/** Returns the value of `Content-Length`; 0 for everything but a positive decimal number of at most seven digits without leading zeros. */
function readLength(value: string | undefined): number {
  return value !== undefined && /^[1-9]\d{0,6}$/.test(value) ? Number(value) : 0;
}

/** Whether the connection stays open, and the body and every acceptable response are JSON: streams are left to Node.js. */
function isPlain({ connection, accept, 'content-type': type }: IncomingHttpHeaders): boolean {
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return false;
  if (type === undefined || !/^application\/json *(?:;|$)/i.test(type)) return false;
  return accept === undefined || !/event-stream|multipart/i.test(accept);
}
