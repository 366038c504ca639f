/** How long responses may be cached, and by whom (RFC 9111): reads `Cache-Control`, takes the strictest, and writes it. No I/O. */

/** How long a response may be cached. */
export interface CachePolicy {
  /** Seconds for the client's own cache. */
  readonly maxAge: number;
  /** Seconds for a cache that clients share. */
  readonly sharedMaxAge: number;
  /** Whether no cache that clients share may keep it. */
  readonly isPrivate: boolean;
}

/** What of a response decides how long it may be cached. */
export interface CacheFields {
  readonly cacheControl: string;
  readonly age?: string | undefined;
  readonly vary?: string | undefined;
  /** The `max-age` of a response that has none, nor `s-maxage`. Default 0. */
  readonly fallbackSeconds?: number;
}

/** A response that may not be cached. */
export const NO_STORE: CachePolicy = { maxAge: 0, sharedMaxAge: 0, isPrivate: true };

/** The `Cache-Control` of a response that may not be cached. */
export const NO_STORE_TEXT = 'no-store';

/** The longest that anything is cached: a year. */
const MAX_SECONDS = 31_536_000;
/** A directive, with a value that may be quoted (RFC 9111 §5.2). */
const DIRECTIVE = /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?/g;
/** These forbid to use a response again without asking, and the gateway's responses have nothing to ask by. */
const NEVER = new Set(['no-store', 'no-cache']);

/** Returns the policy of a response. Without a valid `max-age`, or a fallback for a missing one, it may not be cached; its `Age` is subtracted. */
export function readCachePolicy({ cacheControl, age, vary = '', fallbackSeconds = 0 }: CacheFields): CachePolicy {
  const seconds = new Map<string, number>();
  let isPrivate = false;
  for (const [, name = '', quoted, plain] of cacheControl.matchAll(DIRECTIVE)) {
    const directive = name.toLowerCase();
    if (NEVER.has(directive)) return NO_STORE;
    if (directive === 'private') isPrivate = true;
    if (directive === 'max-age' || directive === 's-maxage')
      seconds.set(directive, Math.min(seconds.get(directive) ?? MAX_SECONDS, readSeconds(quoted ?? plain)));
  }
  if (vary.includes('*')) return NO_STORE;
  const passed = age === undefined ? 0 : /^\d+$/.test(age) ? Number(age) : MAX_SECONDS;
  const rest = (given: number) => Math.max(0, given - passed);
  const maxAge = seconds.get('max-age') ?? (seconds.has('s-maxage') ? 0 : fallbackSeconds);
  return { maxAge: rest(maxAge), sharedMaxAge: isPrivate ? 0 : rest(seconds.get('s-maxage') ?? maxAge), isPrivate };
}

/** A number that is not valid counts as 0 (RFC 9111 §4.2.1). */
function readSeconds(value: string | undefined): number {
  return value !== undefined && /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) : 0;
}

/** Returns the policy of a response that is made of two. */
export function toStrictest(one: CachePolicy, other: CachePolicy): CachePolicy {
  return {
    maxAge: Math.min(one.maxAge, other.maxAge),
    sharedMaxAge: Math.min(one.sharedMaxAge, other.sharedMaxAge),
    isPrivate: one.isPrivate || other.isPrivate,
  };
}

/** Returns the seconds for which a cache of the gateway may keep a result: one for all its clients, or for the caller alone if it is private. */
export function lifetimeOf({ maxAge, sharedMaxAge, isPrivate }: CachePolicy): number {
  return isPrivate ? maxAge : sharedMaxAge;
}

/** Returns the value of `Cache-Control`. */
export function writeCachePolicy({ maxAge, sharedMaxAge, isPrivate }: CachePolicy): string {
  const shared = isPrivate ? 0 : sharedMaxAge;
  if (maxAge === 0 && shared === 0) return NO_STORE_TEXT;
  if (shared === 0) return `private, max-age=${String(maxAge)}`;
  return `public, max-age=${String(maxAge)}${shared === maxAge ? '' : `, s-maxage=${String(shared)}`}`;
}
