/** Writes the head of a response of HTTP/1.1, with the header fields that Node.js adds, in its order. No I/O. */
import { type OutgoingHttpHeader, STATUS_CODES } from 'node:http';
import { type HeaderList, isReplaceable, mergeHeaders } from '../../messages/response-headers.ts';

/** What a head says beside its status. */
export interface HeadFields {
  /** The headers of the writer: an object or a flat list. A value may be a list, whose elements are header fields of their own. */
  readonly own: unknown;
  /** Headers that stand before those, where they do not name the same, in lower case. */
  readonly set: ReadonlyMap<string, readonly [name: string, value: OutgoingHttpHeader]> | undefined;
  /** Headers that are added: a list that is the same for many responses, and one of this response. */
  readonly added: HeaderList;
  readonly late: HeaderList;
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

/** A field name that has been checked, and the line that it was written in last: most values are those of the response before. */
interface KnownName {
  readonly isReplaceable: boolean;
  value: string;
  line: string;
}

/** Names come from code and settings, not from clients. */
const NAMES = new Map<string, KnownName>();
const MAX_NAMES = 1000;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** The longest value that is kept. */
const MAX_KEPT_LENGTH = 256;
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns the head. Throws a TypeError for a name or a value that would break it, as Node.js does. */
export function writeHead(status: number, fields: HeadFields): WrittenHead {
  const { isKeptAlive, keepAliveTimeoutMs } = fields;
  const { text: written, seen } = writeKnown(fields) ?? writeAll(fields);
  let text = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'unknown'}\r\n${written}`;
  if (!seen.hasDate) text += `Date: ${readDate()}\r\n`;
  const isOpen = isKeptAlive && !/close/i.test(seen.connection);
  if (seen.connection === '') text += isOpen ? toKeepAlive(keepAliveTimeoutMs) : 'Connection: close\r\n';
  return { text, hasLength: seen.hasLength, isKeptAlive: isOpen };
}

/** The fields that decide what is added to a head. */
interface Seen {
  hasLength: boolean;
  hasDate: boolean;
  connection: string;
}

interface WrittenFields {
  readonly text: string;
  readonly seen: Seen;
}

/** The fields of a list, without `vary`. */
interface KnownFields {
  readonly text: string;
  readonly vary: string;
}

/** Lists that are added to many responses. */
const KNOWN = new WeakMap<HeaderList, KnownFields>();

/**
 * Writes what nearly every response has: own headers in a list, with `vary` and without one that takes the place of another. Those that are added to
 * many responses are written once. Returns undefined for all others.
 */
function writeKnown({ own, set, added, late }: HeadFields): WrittenFields | undefined {
  if (!Array.isArray(own) || set || added.length === 0) return undefined;
  const known = toKnown(added);
  const seen: Seen = { hasLength: false, hasDate: false, connection: '' };
  let hasVary = false;
  let text = '';
  for (let i = 0; i < own.length; i += 2) {
    const [name, value] = [own[i] as unknown, own[i + 1] as unknown];
    if (typeof name !== 'string' || typeof value !== 'string' || toKnownName(name).isReplaceable) return undefined;
    if (name === 'vary' && !hasVary) {
      hasVary = true;
      text += writeField(name, known.vary === '' ? value : `${value}, ${known.vary}`);
    } else text += writeField(name, value);
    note(seen, name, value);
  }
  text += known.text;
  for (let i = 0; i < late.length; i += 2) {
    if (late[i] === 'vary') return undefined;
    text += writeField(late[i] as string, late[i + 1] as string);
  }
  return hasVary ? { text, seen } : undefined;
}

function toKnown(added: HeaderList): KnownFields {
  let known = KNOWN.get(added);
  if (known) return known;
  let text = '';
  const varies: string[] = [];
  for (let i = 0; i < added.length; i += 2) {
    const [name, value] = [added[i] as string, added[i + 1] as string];
    if (name === 'vary') varies.push(value);
    else text += writeField(name, value);
  }
  known = { text, vary: varies.join(', ') };
  KNOWN.set(added, known);
  return known;
}

function writeAll({ own, set, added, late }: HeadFields): WrittenFields {
  const merged = mergeHeaders(own, late.length === 0 ? added : [...added, ...late]);
  const headers = set ? addUnlessNamed(set, merged) : merged;
  const seen: Seen = { hasLength: false, hasDate: false, connection: '' };
  let text = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = String(headers[i]);
    const value = headers[i + 1] as OutgoingHttpHeader;
    if (Array.isArray(value)) for (const each of value) text += writeField(name, each);
    else text += writeField(name, String(value));
    note(seen, name, value);
  }
  return { text, seen };
}

/** Headers of `setHeader`, except those that the writer names itself, stand first, as in Node.js. */
function addUnlessNamed(set: NonNullable<HeadFields['set']>, headers: readonly OutgoingHttpHeader[]): OutgoingHttpHeader[] {
  const named = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) named.add(String(headers[i]).toLowerCase());
  const before = [...set].filter(([name]) => !named.has(name)).flatMap(([, [name, value]]) => [name, value]);
  return [...before, ...headers];
}

function writeField(name: string, value: string): string {
  const known = toKnownName(name);
  if (known.value === value && known.line !== '') return known.line;
  if (INVALID_VALUE.test(value)) throw new TypeError(`The value of the header ${name} has an invalid character.`);
  const line = `${name}: ${value}\r\n`;
  if (value.length <= MAX_KEPT_LENGTH) {
    known.value = value;
    known.line = line;
  }
  return line;
}

/** Throws a TypeError for a name that would break the head. */
function toKnownName(name: string): KnownName {
  const found = NAMES.get(name);
  if (found) return found;
  if (!NAME.test(name)) throw new TypeError('A header has an invalid name.');
  const known: KnownName = { isReplaceable: isReplaceable(name), value: '', line: '' };
  if (NAMES.size < MAX_NAMES) NAMES.set(name, known);
  return known;
}

/** Notes the fields that decide what is added. Their lengths are compared first. */
function note(seen: Seen, name: string, value: OutgoingHttpHeader): void {
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
