/**
 * Parses the heads of the requests that the lean reader reads: POSTs of JSON to one path with a known length, and GETs of some targets without a body.
 * Everything that affects framing in any other way, or that two parsers could read differently, is not parsed here (RFC 9112 §11). No I/O.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isHost } from '../../messages/host.ts';

/** The requests that the lean reader reads. Their handlers must not need more than it has of the interface of Node.js. */
export interface LeanRequests {
  /** The path of POSTs of JSON, without a query. */
  readonly post?: string;
  /** Matches the targets of GETs. */
  readonly get?: RegExp;
}

/** What a head must be. */
export interface HeadShape {
  /** The only request line of a POST, and its bytes. */
  readonly post: { readonly line: RequestLine; readonly bytes: Buffer } | undefined;
  readonly get: RegExp | undefined;
  /** The longest head, in bytes. */
  readonly maxBytes: number;
}

/** A request line. */
export interface RequestLine {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Bytes of the line, with its end. */
  readonly length: number;
}

/** The header fields behind it. */
export interface FieldLines {
  /** Names as they were sent, and values, in turn. */
  readonly rawHeaders: readonly string[];
  /** By names in lower case, frozen. No name occurs twice. */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the fields, with the empty line. */
  readonly length: number;
  /** Bytes of the body; 0 for a GET. */
  readonly bodyLength: number;
}

/** A head of that shape. */
export interface RequestHead {
  readonly line: RequestLine;
  readonly fields: FieldLines;
}

const MAX_HEADERS = 64;
const [TAB, LF, CR, SPACE, COLON, TILDE] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7e];

/** The characters of a token (RFC 9110 §5.6.2): 1 by code. */
const TOKEN = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") TOKEN[character.charCodeAt(0)] = 1;

/** The characters of a path and a query (RFC 3986 §3.3, §3.4): 1 by code. Node.js decides about all others. */
const TARGET = new Uint8Array(256);
for (const character of "!$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~")
  TARGET[character.charCodeAt(0)] = 1;
const GET = Buffer.from('GET /');
const LINE_END = Buffer.from(' HTTP/1.1\r\n');

/** A request with one of these headers is framed, or answered, in another way. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'keep-alive', 'proxy-connection', 'http2-settings', 'content-encoding'],
]);

/** Returns the parameters of a head's shape. */
export function toHeadShape({ post, get }: LeanRequests, maxHeaderBytes: number): HeadShape {
  // Node.js decides about what comes close to the limit: it does not count every byte.
  const maxBytes = Math.floor(maxHeaderBytes / 2);
  if (post === undefined) return { post, get, maxBytes };
  const bytes = Buffer.from(`POST ${post} HTTP/1.1\r\n`, 'latin1');
  return { post: { line: { method: 'POST', url: post, length: bytes.length }, bytes }, get, maxBytes };
}

/** Returns the request line at the beginning of the bytes; undefined when they begin in any other way. Never throws. */
export function parseRequestLine(bytes: Buffer, { post, get, maxBytes }: HeadShape): RequestLine | undefined {
  if (post && startsWith(bytes, post.bytes, 0)) return post.line;
  if (!get || !startsWith(bytes, GET, 0)) return undefined;
  const from = GET.length - 1;
  let to = from;
  while (to < maxBytes && TARGET[bytes[to] as number] === 1) to++;
  if (!startsWith(bytes, LINE_END, to)) return undefined;
  const url = bytes.toString('latin1', from, to);
  return get.test(url) ? { method: 'GET', url, length: to + LINE_END.length } : undefined;
}

/** Returns the header fields behind a request line; undefined when they are not whole, or not of the shape. Never throws. */
export function parseFields(bytes: Buffer, { method, length: start }: RequestLine, { maxBytes }: HeadShape): FieldLines | undefined {
  const end = Math.min(bytes.length, maxBytes);
  const rawHeaders: string[] = [];
  const headers: IncomingHttpHeaders = {};
  let at = start;
  while (bytes[at] !== CR) {
    at = parseLine(bytes, { at, end }, { rawHeaders, headers });
    if (at < 0 || rawHeaders.length > 2 * MAX_HEADERS) return undefined;
  }
  if (at + 1 >= end || bytes[at + 1] !== LF) return undefined;
  if (headers.host === undefined || !isHost(headers.host) || !isPlain(headers)) return undefined;
  const { 'content-length': length, 'content-type': type } = headers;
  const bodyLength = method === 'POST' && isJson(type) ? readLength(length) : 0;
  if (method === 'POST' ? bodyLength === 0 : length !== undefined) return undefined;
  // Several requests have them.
  return { rawHeaders, headers: Object.freeze(headers), length: at + 2 - start, bodyLength };
}

function startsWith(bytes: Buffer, expected: Buffer, at: number): boolean {
  return bytes.length >= at + expected.length && expected.compare(bytes, at, at + expected.length) === 0;
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

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json *(?:;|$)/i.test(type);
}

/** Whether the connection stays open, and the client accepts no stream: those are left to Node.js. */
function isPlain({ connection, accept }: IncomingHttpHeaders): boolean {
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return false;
  return accept === undefined || !/event-stream|multipart/i.test(accept);
}
