/** Which values headers of the gateway may have, and values of claims for them. No I/O. */
import { isObject } from '../request/json.ts';

/** Visible ASCII and spaces between (RFC 9110 §5.5). */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/;
/** The most items of a claim that is a list. */
const MAX_ITEMS = 100;

/** Returns whether a header may have the value: 1 to 8192 visible ASCII characters, with spaces between. */
export function isHeaderValue(value: string): boolean {
  return VALUE.test(value);
}

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** Returns the claims of a bearer token that is verified already; none for a string that is no such token. */
export function readClaims(authorization: string | undefined): Claims {
  const payload = authorization?.slice(SCHEME.length).split('.')[1];
  if (payload === undefined) return {};
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown;
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

const SCHEME = 'Bearer ';

/**
 * Returns the value of a claim for a header: a string, number or boolean, or a list of these, joined with commas. `name` is that of the claim, or a
 * path of names with dots between. Undefined for every other claim, and for one that no header may have: a header must never say something else
 * than the token.
 */
export function toClaimValue(claims: Claims, name: string): string | undefined {
  const claim = Object.hasOwn(claims, name) ? claims[name] : name.split('.').reduce<unknown>(readMember, claims);
  const text = Array.isArray(claim) ? joinItems(claim) : toText(claim);
  return text !== undefined && isHeaderValue(text) ? text : undefined;
}

function readMember(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** An item with a comma would be taken for two. */
function joinItems(items: readonly unknown[]): string | undefined {
  if (items.length > MAX_ITEMS) return undefined;
  const texts = items.map(toText);
  return texts.every((text) => text !== undefined && text !== '' && !text.includes(',')) ? texts.join(',') : undefined;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
