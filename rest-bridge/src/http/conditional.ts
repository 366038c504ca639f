/** Entity tags, dates and conditional requests (RFC 9110 §8.8, §13). No I/O. */
import * as crypto from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
/** The first version is 1. */
const VERSION = /^v([1-9]\d{0,8})(?:-|$)/;

/** Returns a strong entity tag made from the version of the resource, if it has one, and the bytes sent (contract §4). */
export function toEtag(content: string | Buffer, version: number | undefined): string {
  const hash = sha1(content).slice(0, 16);
  return version === undefined ? `"${hash}"` : `"v${String(version)}-${hash}"`;
}

/** Hashes in one call, in half of the time. Node.js has it since 20.12. */
const { hash: hashOnce } = crypto as Partial<Pick<typeof crypto, 'hash'>>;

function sha1(content: string | Buffer): string {
  return hashOnce ? hashOnce('sha1', content, 'base64url') : crypto.createHash('sha1').update(content).digest('base64url');
}

/** The validators of a representation (RFC 9110 §8.8). */
export interface Validators {
  readonly etag: string;
  /** An HTTP-date; absent when the representation also shows other resources. */
  readonly lastModified?: string | undefined;
}

/** The result of the conditions of a read: send the representation, answer 304, or answer 412. */
export type ReadVerdict = 'proceed' | 'not modified' | 'precondition failed';

/** Evaluates the conditions of a read in the order of RFC 9110 §13.2.2. */
export function evaluateReadConditions(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): ReadVerdict {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, etag)) return 'precondition failed';
  } else {
    const unmodifiedSince = parseDate(headers['if-unmodified-since']);
    if (unmodifiedSince !== undefined && isAfter(parseDate(lastModified), unmodifiedSince)) return 'precondition failed';
  }
  if (ifNoneMatch !== undefined) return matchesWeakly(ifNoneMatch, etag) ? 'not modified' : 'proceed';
  const since = parseDate(headers['if-modified-since']);
  const changed = since === undefined ? undefined : parseDate(lastModified);
  return changed !== undefined && since !== undefined && changed <= since ? 'not modified' : 'proceed';
}

/** Returns whether `Range` applies: without `If-Range`, or when it equals the entity tag. A date is never a strong validator here (§13.1.5). */
export function allowsRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

/** The conditions of a write (§13.1), before the resource has been read. */
export interface WriteConditions {
  /** The versions that the write's SQL statement may find; undefined accepts any. */
  readonly expectedVersions: readonly number[] | undefined;
  /** Whether the resource must exist. Evaluated by reading it, because the SQL statement compares versions only. */
  readonly mustExist: boolean;
  readonly unmodifiedSince: number | undefined;
  readonly noneMatch: '*' | readonly number[] | undefined;
}

/**
 * Parses the conditions of a write. A strong tag that carries a version stands for that version, whatever bytes it was made from, so that
 * a tag of a response to `?fields=` works (contract §4). Weak tags never match in `If-Match`. `If-Unmodified-Since` is ignored when
 * `If-Match` is present (§13.1.4).
 */
export function parseWriteConditions(headers: IncomingHttpHeaders): WriteConditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return {
    expectedVersions: ifMatch === undefined || ifMatch.trim() === '*' ? undefined : parseVersions(ifMatch, { acceptsWeak: false }),
    mustExist: ifMatch?.trim() === '*',
    unmodifiedSince: ifMatch === undefined ? parseDate(headers['if-unmodified-since']) : undefined,
    noneMatch: ifNoneMatch === undefined ? undefined : ifNoneMatch.trim() === '*' ? '*' : parseVersions(ifNoneMatch, { acceptsWeak: true }),
  };
}

/** The most versions that a write takes. */
const MAX_EXPECTED_VERSIONS = 100;

/** Returns whether the conditions are evaluated by reading the resource first. */
export function needsState({ expectedVersions = [], mustExist, unmodifiedSince, noneMatch }: WriteConditions): boolean {
  return mustExist || unmodifiedSince !== undefined || noneMatch !== undefined || expectedVersions.length > MAX_EXPECTED_VERSIONS;
}

/** The current state of a resource; version 0 when it does not exist. */
export interface ResourceState {
  readonly version: number;
  readonly changedAt: string | undefined;
}

/**
 * Returns the versions that the write's SQL statement may find, given the current state; an empty list means that a condition failed, undefined accepts
 * any version.
 */
export function toExpectedVersions(conditions: WriteConditions, { version, changedAt }: ResourceState): readonly number[] | undefined {
  const { expectedVersions, mustExist, unmodifiedSince, noneMatch } = conditions;
  const exists = version > 0;
  // `If-Match: *` is met by every version, also by one that another request writes meanwhile.
  if (exists && mustExist && noneMatch === undefined) return undefined;
  const isMet =
    (expectedVersions?.includes(version) ?? true) &&
    (exists || !mustExist) &&
    !isAfter(changedAt === undefined ? undefined : Date.parse(changedAt), unmodifiedSince) &&
    (noneMatch === undefined || !exists || (noneMatch !== '*' && !noneMatch.includes(version)));
  return isMet ? [version] : [];
}

/** Returns the distinct versions of a list of tags. */
function parseVersions(list: string, { acceptsWeak }: { readonly acceptsWeak: boolean }): number[] {
  const versions = Array.from(list.matchAll(TAG)).flatMap(([, weak, opaque = '']) => {
    const version = weak && !acceptsWeak ? undefined : VERSION.exec(opaque)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
  return [...new Set(versions)];
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

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
/** The formats of RFC 9110 §5.6.7 with their time zone. Servers must accept the obsolete ones of RFC 850 and of `asctime` too. */
const WITH_ZONE = new RegExp(
  `^${DAY}(?:, \\d{1,2} [A-Z][a-z]{2} \\d{4}|[a-z]{3,6}, \\d\\d-[A-Z][a-z]{2}-\\d\\d) \\d\\d:\\d\\d:\\d\\d GMT$`,
);
const ASCTIME = new RegExp(`^${DAY} [A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d \\d{4}$`);

/** Returns milliseconds since 1970; undefined for a value that is not an HTTP-date, which makes the condition ignored (§13.1.3, §13.1.4). */
function parseDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isAsctime = ASCTIME.test(text);
  if (!isAsctime && !WITH_ZONE.test(text)) return undefined;
  const time = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(time) ? undefined : time;
}
