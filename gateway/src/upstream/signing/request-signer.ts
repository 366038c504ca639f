/** Signs requests to subgraphs (AWS Signature Version 4). */
import { createHash, createHmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import type { Log } from '@trestle/log';
import { type ReadCredentials, createFinder, keepCredentials } from './credentials.ts';
import type { Signing } from './signing-settings.ts';

/** A request as it will be sent. */
export interface UnsignedRequest {
  readonly method: 'GET' | 'POST';
  /** As the header `Host` has it. */
  readonly host: string;
  /** With the query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined for one that is streamed. */
  readonly body: string | undefined;
}

/** Returns the headers to send, names and values in turn. Rejects when there are no credentials. */
export type SignRequest = (request: UnsignedRequest) => Promise<string[]>;

/** Signs the requests of subgraphs with equal settings. */
export interface RequestSigner {
  readonly sign: SignRequest;
  /** The settings that it was created with. */
  readonly key: string;
  /** Whether bodies are part of signatures. Others may be streamed. */
  readonly isBodySigned: boolean;
}

const CONTENT_HASH = 'x-amz-content-sha256';
/** What the signature sets. A caller's own values must not stay beside it. */
const OWN: ReadonlySet<string> = new Set(['authorization', 'x-amz-date', 'x-amz-security-token', CONTENT_HASH]);
/** VPC Lattice verifies no bodies, and accepts no hashes of them. */
const UNSIGNED_BODY = 'vpc-lattice-svcs';

/** Returns the signers of subgraphs: one for those with equal settings. Looks for credentials at once, so that the first request does not wait. */
export function createSigners(log: Log): (signing: Signing) => RequestSigner {
  const signers = new Map<string, RequestSigner>();
  return (signing) => {
    const key = toKey(signing);
    const known = signers.get(key);
    if (known) return known;
    const readCredentials = keepCredentials(createFinder(signing, log), { log });
    // A failure is in the log. Each request tries again.
    readCredentials().catch(() => undefined);
    const signer = createRequestSigner(signing, readCredentials);
    signers.set(key, signer);
    return signer;
  };
}

/** Creates a signer. `now` returns the date of a signature. */
export function createRequestSigner(signing: Signing, readCredentials: ReadCredentials, now = () => new Date()): RequestSigner {
  const { region, service } = signing;
  let loading: Promise<SignatureV4> | undefined;
  const load = async () => {
    // Loaded when it is needed: without the setting it costs no memory.
    const { SignatureV4: Signature } = await import('@smithy/signature-v4');
    return new Signature({ service, region, credentials: readCredentials, sha256: Sha256, applyChecksum: false });
  };
  const isBodySigned = service !== UNSIGNED_BODY;
  return {
    key: toKey(signing),
    isBodySigned,
    async sign({ method, host, path, headers, body }) {
      const kept = omitOwn(headers);
      const signature = await (loading ??= load());
      const { headers: signed } = await signature.sign(
        {
          ...{ method, protocol: 'https:', hostname: host, ...toTarget(path) },
          headers: { ...listSigned(kept), host, ...(!isBodySigned && { [CONTENT_HASH]: 'UNSIGNED-PAYLOAD' }) },
          body: isBodySigned ? body : undefined,
        },
        { signingDate: now() },
      );
      return [...kept, ...Object.entries(signed).flatMap(([name, value]) => (OWN.has(name) ? [name, value] : []))];
    },
  };
}

function toKey({ region, service, profile, roleArn, externalId, sessionName }: Signing): string {
  return JSON.stringify([region, service, profile, roleArn, externalId, sessionName]);
}

function omitOwn(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !OWN.has((headers[i - (i % 2)] as string).toLowerCase()));
}

/** AWS demands these beside `Host`. Proxies may change others on the way. */
function listSigned(headers: readonly string[]): Record<string, string> {
  const signed = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name !== 'content-type' && !name.startsWith('x-amz-')) continue;
    const value = headers[i + 1] as string;
    const before = signed.get(name);
    signed.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(signed);
}

function toTarget(path: string): { path: string; query: Record<string, string[]> } {
  const at = path.indexOf('?');
  if (at < 0) return { path, query: {} };
  const query = new Map<string, string[]>();
  for (const pair of path.slice(at + 1).split('&')) {
    if (pair === '') continue;
    const [name = '', ...value] = pair.split('=');
    const key = decode(name);
    query.set(key, [...(query.get(key) ?? []), decode(value.join('='))]);
  }
  return { path: path.slice(0, at), query: Object.fromEntries(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** SHA-256, or HMAC with a key, in the form that the signature takes. */
class Sha256 {
  readonly #secret: Uint8Array | string | undefined;
  #hash: ReturnType<typeof createHash | typeof createHmac>;

  constructor(secret?: unknown) {
    this.#secret = secret as Uint8Array | string | undefined;
    this.#hash = this.#begin();
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin() {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}
