/** Parses the setting that lists where access tokens are. No I/O. */
import { mayForward } from '../../headers/header-names.ts';
import type { TokenSource } from '../../request/token-sources.ts';

const MAX_SOURCES = 8;
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const FORM = 'must be authorization, header:<name>, header:<name>:<prefix> or cookie:<name>';
const NOT_A_SOURCE = 'must not name a header that has a meaning of its own, such as Authorization or Cookie';
/** Browsers or proxies set these themselves, or they say something else of a request. */
const OTHER_MEANING =
  /^(?:accept|cookie|origin|referer|forwarded|via|user-agent|sec-.*|x-forwarded-.*|apollo-require-preflight|idempotency-key)$/;

/**
 * Parses a list of places, separated by commas or spaces; names of headers in lower case. `authorization` is the first where the list does not name
 * it. Throws an Error for an invalid list.
 */
export function parseTokenSources(text: string): readonly TokenSource[] {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  if (items.length > MAX_SOURCES) throw new Error(`must have at most ${String(MAX_SOURCES)} places`);
  const sources = items.map(parseSource);
  const keys = sources.map((source) => ('name' in source ? `${source.kind}:${source.name}` : source.kind));
  if (new Set(keys).size < keys.length) throw new Error('must not name a place twice');
  return sources.some(({ kind }) => kind === 'authorization') ? sources : [{ kind: 'authorization' }, ...sources];
}

function parseSource(item: string): TokenSource {
  const [kind = '', name = '', prefix, ...rest] = item.split(':');
  if (item.toLowerCase() === 'authorization') return { kind: 'authorization' };
  if (!TOKEN.test(name) || rest.length > 0) throw new Error(FORM);
  if (kind === 'cookie' && prefix === undefined) return { kind, name };
  if (kind !== 'header' || (prefix !== undefined && !TOKEN.test(prefix))) throw new Error(FORM);
  if (!mayForward(name) || OTHER_MEANING.test(name.toLowerCase())) throw new Error(NOT_A_SOURCE);
  return { kind, name: name.toLowerCase(), prefix };
}
