/** Checks the key by which an operator, or another process of the system, may use an endpoint. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns whether a request has the key as its bearer token (the case of the scheme does not matter, RFC 9110 §11.1). Takes as long for every other value, so that the time says nothing of the key. */
export function isBearerKey(authorization: string | undefined, key: string): boolean {
  return timingSafeEqual(digest((authorization ?? '').replace(/^bearer /i, 'Bearer ')), digest(`Bearer ${key}`));
}

/** Digests have one length, which comparisons in constant time need. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
