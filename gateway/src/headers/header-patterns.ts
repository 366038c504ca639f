/** Patterns for names of request headers. No I/O. */
import { mayForward } from './header-names.ts';

/** A name in lower case in which one `*` stands for any characters, and for none. */
export interface HeaderPattern {
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * Headers that no pattern stands for, besides those that are never forwarded: by some the gateway asks for a response of its own, others belong to
 * mutations or are credentials, and the last are those that browsers and proxies write. A rule for one of them has to name it.
 */
const NEVER_MATCHED: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'if-match', 'if-none-match', 'if-modified-since', 'if-range', 'range'],
  ...['traceparent', 'tracestate', 'baggage', 'idempotency-key', 'idempotency-scope'],
  ...['proxy-authorization', 'x-graphql-event-stream-token'],
  ...['cookie', 'origin', 'referer', 'via', 'forwarded', 'x-real-ip'],
]);
const NEVER_MATCHED_PREFIX = /^(?:sec-|x-forwarded-|trestle-)/;

/** Returns the pattern; undefined for a name without `*`, and for one with several. */
export function readHeaderPattern(name: string): HeaderPattern | undefined {
  const [prefix, suffix, ...others] = name.toLowerCase().split('*');
  return prefix === undefined || suffix === undefined || others.length > 0 ? undefined : { prefix, suffix };
}

/** Returns whether the pattern stands for the name, which is in lower case. */
export function isLike(name: string, { prefix, suffix }: HeaderPattern): boolean {
  return name.length >= prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix);
}

/** Returns whether a rule with one of the patterns passes the header on. The name is in lower case. */
export function isMatched(name: string, patterns: readonly HeaderPattern[]): boolean {
  return (
    patterns.some((pattern) => isLike(name, pattern)) && !NEVER_MATCHED.has(name) && !NEVER_MATCHED_PREFIX.test(name) && mayForward(name)
  );
}
