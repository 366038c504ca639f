/** The form of access tokens (RFC 7515, RFC 7519), before any key or claim is looked at. No I/O. */
import { fail } from '@trestle/schema/errors';
import { parseStrictJson } from '@trestle/service/messages/strict-json';

/** A token whose signature is not verified yet. */
export interface ParsedToken {
  readonly token: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
}

const MAX_TOKEN_BYTES = 8 * 1024;
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Parses a token in compact form. Throws UNAUTHORIZED for more than 8 KiB, for parts that are not base64url in its only form, for JSON that
 * two parsers might interpret differently (such as a name that occurs twice), and for critical headers, of which none is known.
 */
export function parseToken(token: string): ParsedToken {
  if (token.length > MAX_TOKEN_BYTES || !COMPACT_FORM.test(token)) throw unauthorized();
  const [header, payload] = token.split('.').map(decode).slice(0, 2).map(parseObject);
  const { alg, kid, crit, b64 } = header ?? {};
  if (!header || !payload || typeof alg !== 'string' || crit !== undefined || b64 !== undefined) throw unauthorized();
  if (kid !== undefined && typeof kid !== 'string') throw unauthorized();
  return { token, header, algorithm: alg, kid, payload };
}

/** Returns the error of a token that is refused. It never says why, which would help an attacker only. */
export function unauthorized(cause?: unknown): Error {
  return fail('UNAUTHORIZED', 'The access token is invalid, expired or revoked', { cause, isInvalidCredential: true });
}

/** The last character may have bits that no byte uses: two texts would be the same token. */
function decode(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw unauthorized();
  return bytes;
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseStrictJson(bytes);
  } catch (cause) {
    throw unauthorized(cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unauthorized();
  return value as Readonly<Record<string, unknown>>;
}
