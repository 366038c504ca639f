/** Reads lists of names and values as OpenTelemetry's environment variables have them: `name=value,name=value`, percent-encoded (W3C Baggage). */

/** What names and values of one list may be. */
export interface PairRules {
  readonly maxPairs: number;
  /** Returns why a pair is not allowed; undefined for one that is. The reason must not contain the value. */
  readonly findFault: (name: string, value: string) => string | undefined;
}

/**
 * Returns the values by their names; of equal names the last counts. Spaces around names and values are removed, empty items left out. Throws an
 * Error for what is no list of pairs, and for pairs that the rules do not allow. Its message says which item is wrong, and has no part of it:
 * the list may be secret.
 */
export function readPairs(text: string, { maxPairs, findFault }: PairRules): ReadonlyMap<string, string> {
  const items = text.split(',').filter((item) => item.trim() !== '');
  if (items.length > maxPairs) throw new Error(`must have at most ${String(maxPairs)} names`);
  const pairs = items.map((item, i) => {
    const refuse = (why: string) => new Error(items.length === 1 ? why : `item ${String(i + 1)} ${why}`);
    const end = item.indexOf('=');
    if (end < 0) throw refuse('must be name=value');
    const name = decode(item.slice(0, end));
    const value = decode(item.slice(end + 1));
    if (name === undefined || value === undefined) throw refuse('must be percent-encoded: write %25 for the character %');
    const fault = findFault(name, value);
    if (fault !== undefined) throw refuse(fault);
    return [name, value] as const;
  });
  return new Map(pairs);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}

/** Longest name and value of a resource attribute, in characters: the limits of OpenTelemetry's SDK for JavaScript. */
const MAX_ATTRIBUTE_LENGTH = 255;
const ATTRIBUTE_NAME = /^[\x21-\x7e]{1,255}$/;
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** The rules of resource attributes. */
export const ATTRIBUTES: PairRules = {
  maxPairs: 64,
  findFault: (name, value) => {
    if (!ATTRIBUTE_NAME.test(name)) return 'must have a name of 1 to 255 visible ASCII characters';
    const limit = findLimit(value);
    return limit && `must have a value ${limit}`;
  },
};

/** Returns which limit of attributes a value exceeds; undefined for none. */
export function findLimit(value: string): string | undefined {
  if (value.length > MAX_ATTRIBUTE_LENGTH) return 'of at most 255 characters';
  return UNPRINTABLE.test(value) ? 'without control characters' : undefined;
}

/** A token of RFC 9110 §5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** Visible ASCII with spaces between (RFC 9110 §5.5): no line break can begin another header. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/;
/** The exporter sets these, or they belong to the connection (RFC 9110 §7.6.1). */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'expect'],
  ...['content-length', 'content-type', 'content-encoding'],
]);

/** The rules of request headers to a collector. */
export const HEADERS: PairRules = {
  maxPairs: 32,
  findFault: (name, value) => {
    if (!HEADER_NAME.test(name)) return 'must have the name of a header';
    if (OWN_HEADERS.has(name.toLowerCase())) return 'must not name a header that frames the message or belongs to the connection';
    return HEADER_VALUE.test(value) ? undefined : 'must have a value of 1 to 8192 visible ASCII characters';
  },
};
