/** Entity tags, dates and the conditions made with them (RFC 9110 §8.8, §13). No I/O. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const VERSION = /^v(\d{1,9})(?:-|$)/;

/** A strong tag from the resource's version, where it has one, and the bytes sent (contract §4). */
export function toEtag(content: string | Buffer, version: number | undefined): string {
  const hash = createHash('sha1').update(content).digest('base64url').slice(0, 16);
  return version === undefined ? `"${hash}"` : `"v${String(version)}-${hash}"`;
}

/** What a client may know of what it would get. */
export interface Validators {
  readonly etag: string;
  /** An HTTP-date; absent where the time of the last change says nothing. */
  readonly lastModified?: string | undefined;
}

/** What the conditions of a read come to, in the order of RFC 9110 §13.2.2. */
export function judgeRead(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): 'go on' | 'not modified' | 'failed' {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  const changed = readDate(lastModified);
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, etag)) return 'failed';
  } else if (isAfter(changed, readDate(headers['if-unmodified-since']))) return 'failed';
  if (ifNoneMatch !== undefined) return matchesWeakly(ifNoneMatch, etag) ? 'not modified' : 'go on';
  const since = readDate(headers['if-modified-since']);
  return changed !== undefined && since !== undefined && changed <= since ? 'not modified' : 'go on';
}

/** Whether `Range` counts: without `If-Range`, or when that names exactly these bytes; a date is no strong validator here (§13.1.5). */
export function allowsRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

/** What a write is conditional on (§13.1), before anybody has looked at the resource. */
export interface WriteConditions {
  /** Versions that the write's own SQL has to find; undefined accepts any. */
  readonly expectedVersions: readonly number[] | undefined;
  /** Decided by a look at the resource, since SQL is given versions only. */
  readonly mustExist: boolean;
  readonly unmodifiedSince: number | undefined;
  readonly noneMatch: '*' | readonly number[] | undefined;
}

/**
 * Reads the conditions of a write. Every strong tag that carries a version counts for that version, whatever bytes it was made from,
 * so that a tag from `?fields=` works (contract §4). Weak tags never match in `If-Match`; `If-Unmodified-Since` counts without it only.
 */
export function readWriteConditions(headers: IncomingHttpHeaders): WriteConditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return {
    expectedVersions: ifMatch === undefined || ifMatch.trim() === '*' ? undefined : readVersions(ifMatch, { weak: false }),
    mustExist: ifMatch?.trim() === '*',
    unmodifiedSince: ifMatch === undefined ? readDate(headers['if-unmodified-since']) : undefined,
    noneMatch: ifNoneMatch === undefined ? undefined : ifNoneMatch.trim() === '*' ? '*' : readVersions(ifNoneMatch, { weak: true }),
  };
}

/** The resource as a look at it found it; version 0 when there is none. */
export interface Found {
  readonly version: number;
  readonly changedAt: string | undefined;
}

/** The versions that the write's SQL has to find, now that the resource was looked at; an empty list is a condition that failed. */
export function toExpectedVersions(conditions: WriteConditions, { version, changedAt }: Found): readonly number[] {
  const { expectedVersions, mustExist, unmodifiedSince, noneMatch } = conditions;
  const exists = version > 0;
  const isMet =
    (expectedVersions?.includes(version) ?? true) &&
    (exists || !mustExist) &&
    !isAfter(changedAt === undefined ? undefined : Date.parse(changedAt), unmodifiedSince) &&
    (noneMatch === undefined || !exists || (noneMatch !== '*' && !noneMatch.includes(version)));
  return isMet ? [version] : [];
}

function readVersions(list: string, { weak: takesWeak }: { readonly weak: boolean }): number[] {
  return Array.from(list.matchAll(TAG)).flatMap(([, weak, opaque = '']) => {
    const version = weak && !takesWeak ? undefined : VERSION.exec(opaque)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

function matchesStrongly(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || Array.from(ifMatch.matchAll(TAG)).some(([whole, weak]) => !weak && whole === etag);
}

function matchesWeakly(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.trim() === '*' || Array.from(ifNoneMatch.matchAll(TAG)).some(([, , opaque]) => `"${opaque ?? ''}"` === etag);
}

function isAfter(changed: number | undefined, since: number | undefined): boolean {
  return changed !== undefined && since !== undefined && changed > since;
}

/** The three forms of RFC 9110 §5.6.7 begin like this; none is longer than 40 characters. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? .{1,30}$/;

/** Milliseconds since 1970, or undefined for what is no HTTP-date: such a condition is ignored (§13.1.3, §13.1.4). */
function readDate(text: string | undefined): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
