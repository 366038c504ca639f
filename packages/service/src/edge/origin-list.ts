/** A list of origins (RFC 6454), and of patterns such as `https://*.example.com`. No I/O. */

const MAX_ORIGINS = 1000;
/** What `*` stands for: characters of one label of a host name, and never a dot. */
const LABEL_PART = '[a-z0-9-]+';
/** Origins of native applications with web views, and of extensions of browsers: the URL Standard gives them none, and they send this. */
const OTHER_SCHEME = /^([a-z][a-z0-9+.-]*):\/\/[\w.-]+(?::\d{1,5})?$/;
/** Pages with these have the origin `null`, or none. Those of the URL Standard are compared by its own form. */
const NOT_AN_ORIGIN: ReadonlySet<string> = new Set(['about', 'blob', 'data', 'file', 'ftp', 'http', 'https', 'javascript', 'ws', 'wss']);
const MAX_SHOWN = 100;
const PATTERN = /^https?:\/\/(?:[a-z0-9*-]+\.)+[a-z0-9-]+\.[a-z0-9-]+(?::\d{1,5})?$/;

/** The origins of a list. */
export interface OriginList {
  /** Whether the list names the origin, or has a pattern for it. */
  has(origin: string): boolean;
}

/**
 * Parses origins and patterns, separated by commas or spaces. Throws an Error that names a value that is neither, such as `*` or a URL with a path.
 * The last two labels of a pattern have no `*`, which would let in a whole top-level domain. Origins with other schemes than http and https are
 * compared as they are written.
 */
export function parseOrigins(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== '');
  if (origins.length > MAX_ORIGINS) throw new Error(`must be at most ${String(MAX_ORIGINS)} origins`);
  if (origins.includes('*'))
    throw new Error('must not be `*`: pages of any site could act for their visitors. Name origins, or https://*.example.com');
  const wrong = origins.find((origin) => !(isPattern(origin) ? PATTERN.test(origin) : isOrigin(origin)));
  if (wrong !== undefined)
    throw new Error(
      `must be origins such as https://app.example.com, or patterns such as https://*.example.com, without a path or a slash at the end${describe(wrong)}`,
    );
  return origins;
}

/** Creates a list of what {@link parseOrigins} returned. */
export function createOriginList(entries: readonly string[]): OriginList {
  const exact = new Set(entries.filter((entry) => !isPattern(entry)));
  const patterns = entries.filter(isPattern).map(compile);
  return { has: (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin)) };
}

function isOrigin(text: string): boolean {
  const scheme = OTHER_SCHEME.exec(text)?.[1];
  if (scheme !== undefined && !NOT_AN_ORIGIN.has(scheme)) return true;
  return URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text);
}

/** Returns which value is wrong, as the end of a sentence, but for one with a user and a password. */
function describe(wrong: string): string {
  return wrong.includes('@') ? '' : `; \`${wrong.slice(0, MAX_SHOWN)}\` is neither`;
}

function isPattern(entry: string): boolean {
  return entry.includes('*');
}

function compile(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replace(/[.:/]/g, '\\$&'));
  return new RegExp(`^${source.join(LABEL_PART)}$`);
}
