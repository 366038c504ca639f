/** Entity tags of results that caches may keep, so that they revalidate them without their bytes (RFC 9110 §8.8.3, §13.1.2). No I/O. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { NO_STORE_TEXT } from '../../request/cache-policy.ts';
import type { OperationResult } from '../../request/operation.ts';
import { isGet } from './admitted-request.ts';
import type { Head } from './send.ts';

/** 132 bits of the hash, in characters of base64url. */
const HASH_CHARACTERS = 22;
const TAG = /"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Returns the tag of a result; undefined for one that no cache may keep. It is weak, because compressed and plain bytes have the same. */
export function toEntityTag(
  request: Pick<IncomingMessage, 'method'>,
  head: Head,
  { bytes, length }: Pick<OperationResult, 'bytes' | 'length'>,
): string | undefined {
  if (!isGet(request) || head['cache-control'] === NO_STORE_TEXT) return undefined;
  const hash = createHash('sha256').update(bytes.subarray(0, length)).digest('base64url');
  return `W/"${hash.slice(0, HASH_CHARACTERS)}"`;
}

/** Returns whether the client has the result with this tag: whether `If-None-Match` names it, by the weak comparison. */
export function isCurrent({ headers: { 'if-none-match': known } }: Pick<IncomingMessage, 'headers'>, tag: string): boolean {
  if (known === undefined) return false;
  return known.trim() === '*' || (known.match(TAG) ?? []).some((each) => tag.endsWith(each));
}
