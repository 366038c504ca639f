/** Entity tags and the conditions made with them (RFC 9110 §8.8.3, §13). No I/O. */
import { createHash } from 'node:crypto';

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const VERSION = /^v(\d{1,9})(?:-|$)/;

/** A strong tag from the resource's version, where it has one, and the bytes sent (contract §4). */
export function toEtag(bytes: Buffer, version: number | undefined): string {
  const hash = createHash('sha1').update(bytes).digest('base64url').slice(0, 16);
  return version === undefined ? `"${hash}"` : `"v${String(version)}-${hash}"`;
}

/**
 * The versions that `If-Match` accepts, which travel into the write's own SQL; undefined accepts any. Every strong tag that carries
 * the version counts, whatever bytes it was made from, so that a tag from `?fields=` works. Weak tags never match (§13.1.1).
 */
export function readExpectedVersions(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return Array.from(ifMatch.matchAll(TAG)).flatMap(([, weak, opaque = '']) => {
    const version = weak ? undefined : VERSION.exec(opaque)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Whether a GET with `If-Match` may go on: strong comparison (§13.1.1). */
export function matchesStrongly(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return Array.from(ifMatch.matchAll(TAG)).some(([whole, weak]) => !weak && whole === etag);
}

/** Whether the client already has these bytes: weak comparison (§13.1.2). */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return Array.from(ifNoneMatch.matchAll(TAG)).some(([, , opaque]) => `"${opaque ?? ''}"` === etag);
}
