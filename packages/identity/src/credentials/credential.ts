/** Reads the credential of a request: a bearer token, or an API key in a header or in the URL (spec §5.1, §5.2, contract §4). No I/O. */
import { type Fault, fail } from '@trestle/schema/errors';

/** The credential of a request. Its value is not verified yet. */
export interface Credential {
  readonly kind: 'bearer' | 'apiKey';
  readonly value: string;
  /** Whether it is an API key in the URL, which each key must allow. */
  readonly isInUrl: boolean;
}

/** The places of a request that may hold a credential. */
export interface CredentialSource {
  /** `req.rawHeaders` (name, value, name, value …), because `req.headers` hides a second `Authorization`. */
  readonly rawHeaders: readonly string[];
  /** What {@link takeUrlKeys} has removed from the URL; none by default. */
  readonly urlKeys?: readonly string[];
  /** The method, for a request that may hold a key in the URL. */
  readonly method?: string | undefined;
}

const AUTHORIZATION = /^(bearer|apikey) +([\w.~+/=-]+) *$/i;
const KEY = /^[\w.~+/=-]+$/;
const NO_KEYS: readonly string[] = [];
const [AUTHORIZATION_LENGTH, KEY_LENGTH] = ['authorization'.length, 'x-api-key'.length];

/** Bearer tokens that were read, by the value of their header: clients repeat it, and a token has hundreds of characters. At most 4 MB. */
const BEARERS = new Map<string, Credential>();
const MAX_BEARERS = 1000;
const MAX_BEARER_LENGTH = 4096;

/**
 * Returns the credential of a request, or undefined when it has none. Throws VALIDATION_ERROR for more than one credential, wherever they
 * stand, and for a key in the URL of another method than GET and HEAD. Throws UNAUTHORIZED for a credential of another scheme or form: a
 * request with one must not be served as anonymous.
 */
export function readCredential({ rawHeaders, urlKeys = NO_KEYS, method }: CredentialSource): Credential | undefined {
  let name: string | undefined;
  let value = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const { length } = rawHeaders[i] as string;
    if (length !== AUTHORIZATION_LENGTH && length !== KEY_LENGTH) continue;
    const read = (rawHeaders[i] as string).toLowerCase();
    if (read !== 'authorization' && read !== 'x-api-key') continue;
    if (name !== undefined) throw tooMany();
    name = read;
    value = rawHeaders[i + 1] as string;
  }
  const [urlKey, ...others] = urlKeys;
  if (urlKey !== undefined) {
    if (name !== undefined || others.length > 0) throw tooMany();
    return readUrlKey(urlKey, method);
  }
  if (name === undefined) return undefined;
  if (name === 'x-api-key') return toKey(value.trim(), false);
  return BEARERS.get(value) ?? readAuthorization(value);
}

function readAuthorization(value: string): Credential {
  const [, scheme = '', token] = AUTHORIZATION.exec(value) ?? [];
  if (token === undefined) throw invalid('The credential has an unknown scheme or form. Send `Bearer <token>` or `ApiKey <key>`.');
  const credential: Credential = { kind: scheme.toLowerCase() === 'bearer' ? 'bearer' : 'apiKey', value: token, isInUrl: false };
  if (credential.kind === 'bearer' && value.length <= MAX_BEARER_LENGTH) {
    if (BEARERS.size >= MAX_BEARERS) BEARERS.clear();
    BEARERS.set(value, credential);
  }
  return credential;
}

/** A key in a URL is remembered by browsers and proxies, so that it must not be able to change anything. */
function readUrlKey(key: string, method: string | undefined): Credential {
  if (method !== 'GET' && method !== 'HEAD')
    throw fail('VALIDATION_ERROR', '`apiKey` in the URL is accepted for GET only. Send the key in the header X-API-Key.', {
      details: [{ field: 'apiKey', message: 'is accepted for GET only' }],
    });
  return toKey(key, true);
}

function toKey(value: string, isInUrl: boolean): Credential {
  if (!KEY.test(value)) throw invalid('The API key is malformed. Send the key exactly as it was shown.');
  return { kind: 'apiKey', value, isInUrl };
}

function tooMany(): Fault {
  return fail('VALIDATION_ERROR', 'Send exactly one credential.');
}

function invalid(message: string): Fault {
  return fail('UNAUTHORIZED', message, { isInvalidCredential: true });
}

const URL_KEY = 'apiKey';
/** Whether a query string may have the parameter; its name may be percent-encoded. Checked first, because nearly no request has it. */
const MAYBE_URL_KEY = /[?&](?:apikey|[^=&?]*%)/i;
const MAYBE_KEY_PARAMETER = /^\??(?:apikey|[^=]*%)/i;

/**
 * Removes every `apiKey` parameter from the URL of a request, and returns their values. Called before anything else reads the URL, so that
 * no log, trace, metric, link or redirect can repeat a key.
 */
export function takeUrlKeys(request: { url?: string | undefined }): readonly string[] {
  const { url = '' } = request;
  if (!MAYBE_URL_KEY.test(url)) return NO_KEYS;
  const mark = url.indexOf('?');
  if (mark < 0) return NO_KEYS;
  const keys: string[] = [];
  const others = url
    .slice(mark + 1)
    .split('&')
    .filter((parameter) => {
      if (!MAYBE_KEY_PARAMETER.test(parameter)) return true;
      const [[name, value] = []] = [...new URLSearchParams(parameter)];
      if (name !== URL_KEY) return true;
      keys.push(value ?? '');
      return false;
    });
  if (keys.length > 0) request.url = others.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${others.join('&')}`;
  return keys;
}

/**
 * Returns the bearer token of a request to a process that accepts tokens only, or undefined when the request has no credential.
 * Throws what {@link readCredential} throws, and UNAUTHORIZED for an API key.
 */
export function readBearerToken(rawHeaders: readonly string[]): string | undefined {
  const credential = readCredential({ rawHeaders });
  if (credential?.kind === 'apiKey')
    throw invalid('The credential is not a bearer token: API keys are accepted by the gateway and the REST bridge only.');
  return credential?.value;
}
