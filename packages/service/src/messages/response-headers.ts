/** Headers of a response that do not depend on what writes it: of security, of CORS, of rate limits. They are on every response, errors included. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Names in lower case and values in turn. */
export type HeaderList = readonly string[];

/** Returns headers when the head is sent, by the status of the response. */
export type LateHeaders = (status: number) => HeaderList;

const ADDED = Symbol('added headers');
const LATE = Symbol('late headers');
const DEFAULT_LATE = Symbol('default late headers');
const NONE: HeaderList = [];

interface Added {
  [ADDED]?: HeaderList;
  [LATE]?: LateHeaders;
  [DEFAULT_LATE]?: LateHeaders;
}

/** Lists that were joined, by both: there are few, and each is the same for many responses. */
const JOINED = new WeakMap<HeaderList, WeakMap<HeaderList, HeaderList>>();

/**
 * Adds headers to a response whose head is not sent yet. A header of the same name that its writer sends takes their place. `headers` is a list that is
 * made once, not for each response.
 */
export function addHeaders(response: object, headers: HeaderList): void {
  const before = (response as Added)[ADDED];
  (response as Added)[ADDED] = before === undefined ? headers : join(before, headers);
}

function join(first: HeaderList, second: HeaderList): HeaderList {
  const known = JOINED.get(first) ?? new WeakMap<HeaderList, HeaderList>();
  const joined = known.get(second) ?? [...first, ...second];
  JOINED.set(first, known.set(second, joined));
  return joined;
}

/** Sets the function that returns further headers when the head is sent. There is one for each response. */
export function setLateHeaders(response: object, late: LateHeaders): void {
  (response as Added)[LATE] = late;
}

/** Returns whether {@link setLateHeaders} was called for a response. */
export function hasLateHeaders(response: object): boolean {
  return (response as Added)[LATE] !== undefined;
}

/** Sets the function that returns further headers when the head is sent, of a response for which {@link setLateHeaders} is not called. */
export function setDefaultLateHeaders(response: object, late: LateHeaders): void {
  (response as Added)[DEFAULT_LATE] = late;
}

/** Returns the headers that were added to a response. Called once, when its head is sent. */
export function addedHeadersOf(response: object, status: number): HeaderList {
  const { added, late } = addedListsOf(response, status);
  return late.length === 0 ? added : [...added, ...late];
}

/** Returns the same in two lists: the first is the same for many responses. */
export function addedListsOf(response: object, status: number): { readonly added: HeaderList; readonly late: HeaderList } {
  const { [ADDED]: added = NONE, [DEFAULT_LATE]: byDefault, [LATE]: late = byDefault } = response as Added;
  return { added, late: late ? late(status) : NONE };
}

/** Headers that a writer replaces; all others that are added are never written by anything else. */
const REPLACEABLE = new Set([
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'retry-after',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
]);
const REPLACEABLE_LENGTHS = new Set(Array.from(REPLACEABLE, ({ length }) => length));

/**
 * Returns the headers of a writer, an object or a flat list, and those that were added, as a flat list. A value of an object may be a
 * list, whose elements are headers of their own.
 */
export function mergeHeaders(own: unknown, added: HeaderList): OutgoingHttpHeader[] {
  const merged: OutgoingHttpHeader[] = [];
  let replaced: Set<string> | undefined;
  const push = (name: string, value: OutgoingHttpHeader | undefined) => {
    if (value === undefined) return;
    merged.push(name, value);
    if (isReplaceable(name)) (replaced ??= new Set()).add(name.toLowerCase());
  };
  if (Array.isArray(own)) for (let i = 0; i < own.length; i += 2) push(own[i] as string, own[i + 1] as OutgoingHttpHeader);
  else if (typeof own === 'object' && own !== null) for (const name in own) push(name, (own as OutgoingHttpHeaders)[name]);
  for (let i = 0; i < added.length; i += 2) {
    const name = added[i] as string;
    const value = added[i + 1] as string;
    if (name === 'vary') addVary(merged, value);
    else if (replaced?.has(name) !== true) merged.push(name, value);
  }
  return merged;
}

/** Returns whether a header of this name takes the place of one that was added. */
export function isReplaceable(name: string): boolean {
  return REPLACEABLE_LENGTHS.has(name.length) && REPLACEABLE.has(name.toLowerCase());
}

/** One line has all names: nginx before 1.23 caches by the last line alone. */
function addVary(merged: OutgoingHttpHeader[], value: string): void {
  const index = merged.findIndex((each, i) => i % 2 === 0 && typeof each === 'string' && each.toLowerCase() === 'vary');
  if (index < 0) merged.push('vary', value);
  else merged[index + 1] = `${String(merged[index + 1])}, ${value}`;
}

/** A response of HTTP/1.1 with its added headers. */
export class Http1Response<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** `first` is the reason phrase or the headers. There is no rest parameter: its arrays would fill V8's old space. */
  override writeHead(status: number, first?: unknown, second?: unknown): this {
    const added = addedHeadersOf(this, status);
    if (typeof first === 'string') return super.writeHead(status, first, toHeaders(second, added));
    return super.writeHead(status, toHeaders(first, added));
  }
}

function toHeaders(own: unknown, added: HeaderList): OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined {
  return added.length === 0 ? (own as OutgoingHttpHeaders | undefined) : mergeHeaders(own, added);
}
