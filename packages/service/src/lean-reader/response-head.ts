/** Writes the head of a response of HTTP/1.1, with the header fields that Node.js adds, in its order. No I/O. */
import { type OutgoingHttpHeader, STATUS_CODES } from 'node:http';

/** What a head says beside its status. */
export interface HeadFields {
  /** Names and values in turn. A value may be a list, whose elements are header fields of their own. */
  readonly headers: readonly OutgoingHttpHeader[];
  readonly isKeptAlive: boolean;
  readonly keepAliveTimeoutMs: number;
}

/** A head without its end, to which a field for the length may be added. */
export interface WrittenHead {
  readonly text: string;
  readonly hasLength: boolean;
  /** Whether the connection stays open: not when a field says `close`. */
  readonly isKeptAlive: boolean;
}

/** Field names that have been checked; they come from code and settings, not from clients. */
const NAMES = new Set<string>();
const MAX_NAMES = 1000;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns the head. Throws a TypeError for a name or a value that would break it, as Node.js does. */
export function writeHead(status: number, { headers, isKeptAlive, keepAliveTimeoutMs }: HeadFields): WrittenHead {
  const seen = { hasLength: false, hasDate: false, connection: '' };
  let text = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = String(headers[i]);
    const value = headers[i + 1] as OutgoingHttpHeader;
    if (Array.isArray(value)) for (const each of value) text += writeField(name, each);
    else text += writeField(name, String(value));
    note(seen, name, value);
  }
  if (!seen.hasDate) text += `Date: ${readDate()}\r\n`;
  const isOpen = isKeptAlive && !/close/i.test(seen.connection);
  if (seen.connection === '') text += isOpen ? toKeepAlive(keepAliveTimeoutMs) : 'Connection: close\r\n';
  return { text, hasLength: seen.hasLength, isKeptAlive: isOpen };
}

function writeField(name: string, value: string): string {
  if (!NAMES.has(name)) checkName(name);
  if (INVALID_VALUE.test(value)) throw new TypeError(`The value of the header ${name} has an invalid character.`);
  return `${name}: ${value}\r\n`;
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw new TypeError('A header has an invalid name.');
  if (NAMES.size < MAX_NAMES) NAMES.add(name);
}

/** Notes the fields that decide what is added. Their lengths are compared first. */
function note(seen: { hasLength: boolean; hasDate: boolean; connection: string }, name: string, value: OutgoingHttpHeader): void {
  if (name.length === 14 && name.toLowerCase() === 'content-length') seen.hasLength = true;
  else if (name.length === 10 && name.toLowerCase() === 'connection') seen.connection = String(value);
  else if (name.length === 4 && name.toLowerCase() === 'date') seen.hasDate = true;
}

function toKeepAlive(timeoutMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${String(Math.floor(timeoutMs / 1000))}\r\n`;
}

let dateSecond = 0;
let date = '';

/** Returns the current time as an HTTP date, which is made once a second. */
function readDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
