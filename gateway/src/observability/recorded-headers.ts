/** Headers of requests that spans and the access log have, so that operators can tell tenants, teams or versions of an application apart. No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { mask } from '@trestle/log/mask';

/** Values of headers, by names in lower case. */
export type RecordedHeaders = Readonly<Record<string, string>>;

/** Returns the chosen headers that a request has; undefined when it has none of them. */
export type RecordHeaders = (headers: IncomingHttpHeaders) => RecordedHeaders | undefined;

/** Each of them is written for every request. */
const MAX_NAMES = 16;
const MAX_VALUE_BYTES = 255;

const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** What only the caller and the gateway may know. A `Sec-WebSocket-Protocol` may have a token, because browsers cannot set other headers. */
const SECRET: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'cookie',
  'x-csrf-token',
  'sec-websocket-protocol',
]);

/**
 * Parses a list of names, separated by commas or spaces; returns them in lower case, each once. Throws an Error for what is no name of a header, for a
 * header that holds a credential, and for more than 16 names.
 */
export function parseRecordedNames(text: string): readonly string[] {
  const names = new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((name) => name !== ''),
  );
  if (![...names].every((name) => NAME.test(name) && !SECRET.has(name))) throw new Error('must be names of headers without credentials');
  if (names.size > MAX_NAMES) throw new Error(`must have at most ${String(MAX_NAMES)} names`);
  return [...names];
}

/**
 * Creates the function that finds the headers of these names, which are in lower case. In values, what looks like a token, a key or an e-mail address is
 * replaced; they are cut to 255 bytes.
 */
export function createHeaderRecorder(names: readonly string[]): RecordHeaders {
  return (headers) => {
    let recorded: Record<string, string> | undefined;
    for (const name of names) {
      if (Object.hasOwn(headers, name)) (recorded ??= {})[name] = mask(String(headers[name]), MAX_VALUE_BYTES);
    }
    return recorded;
  };
}
