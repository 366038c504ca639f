/**
 * For tests: verifies signatures as the services of AWS do. Follows "Create a signed AWS API request" of AWS's documentation, and uses none of the code
 * that signs.
 */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The keys that a service knows, by their ids. */
export type KnownKeys = Readonly<Record<string, { readonly secret: string; readonly token?: string }>>;

/** What a service expects. */
export interface ExpectedSignature {
  readonly keys: KnownKeys;
  readonly region: string;
  readonly service: string;
  /** Whether bodies are part of signatures. Default true. */
  readonly isBodySigned?: boolean;
}

const MAX_SKEW_MS = 300_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z\d;-]+), Signature=([\da-f]{64})$/;

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns why a service would refuse the request; undefined when it is signed by a known key. */
export function findSignatureFault(request: IncomingMessage, body: Buffer, expected: ExpectedSignature): string | undefined {
  const { method = '', url = '', headers, rawHeaders } = request;
  const given = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'authorization').length;
  if (given !== 1) return `${String(given)} headers Authorization`;
  const [, id = '', day = '', region = '', service = '', signedNames = '', signature] =
    AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined) return `not a signature: ${headers.authorization ?? ''}`;
  if (region !== expected.region || service !== expected.service) return `signed for ${region}/${service}`;
  const key = Object.hasOwn(expected.keys, id) ? expected.keys[id] : undefined;
  if (!key) return `an unknown key: ${id}`;
  if (key.token !== headers['x-amz-security-token']) return 'another session token than that of the key';
  const date = String(headers['x-amz-date']);
  if (!date.startsWith(`${day}T`) || Math.abs(readDate(date) - Date.now()) > MAX_SKEW_MS) return `signed at ${date}`;
  const names = signedNames.split(';');
  const unsigned = Object.keys(headers).filter((name) => isDemanded(name) && !names.includes(name));
  if (unsigned.length > 0) return `not signed: ${unsigned.join(', ')}`;
  if (expected.isBodySigned === false && headers['x-amz-content-sha256'] !== 'UNSIGNED-PAYLOAD') return 'no UNSIGNED-PAYLOAD';
  const payload = expected.isBodySigned === false ? 'UNSIGNED-PAYLOAD' : sha256(body);
  const [path = '', query = ''] = url.split('?');
  const lines = names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`);
  const canonical = [method, toCanonicalPath(path), toCanonicalQuery(query), ...lines, '', signedNames, payload].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', date, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join('\n');
  const signingKey = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secret}`, day));
  return hmac(signingKey, toSign).toString('hex') === signature ? undefined : 'the signature does not match';
}

function isDemanded(name: string): boolean {
  return name === 'host' || name === 'content-type' || name.startsWith('x-amz-');
}

function readDate(date: string): number {
  const [, year, month, day, hours, minutes, seconds] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hours), Number(minutes), Number(seconds));
}

/** All services but S3 encode the path as it was sent once more. */
function toCanonicalPath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function toCanonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const encoded = pairs.map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return [encode(decodeURIComponent(name)), encode(decodeURIComponent(value))] as const;
  });
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return encoded
    .sort(([a, x], [b, y]) => order(a, b) || order(x, y))
    .map((pair) => pair.join('='))
    .join('&');
}
