/** Calls the gateway: GraphQL over HTTP on kept-alive connections. */
import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, rootCertificates } from 'node:tls';
import { fail } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import { toPostAttributes } from '@trestle/telemetry/http';
import { Pool, errors } from 'undici';

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The largest body that the gateway takes (contract §6). */
const MAX_REQUEST_BYTES = 1024 * 1024;

export interface GatewayRequest {
  /** The request's JSON up to its variables, which stand last. */
  readonly documentStart: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The caller's own credential, as sent. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** What tells the gateway whose request it is: a header's name and value, or nothing. */
  readonly clientHeaders: readonly string[];
  /** The span of the client's request; undefined unless spans are exported or the client sent a trace to pass on. */
  readonly trace: Scope | undefined;
  readonly idempotency?: { readonly key: string; readonly scope: string } | undefined;
}

export interface GatewayError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: unknown; readonly details?: unknown; readonly masked?: unknown; readonly retryAfter?: unknown };
}

export interface GatewayAnswer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GatewayError[];
  /** Whether a subgraph gave what it had kept under the idempotency key. */
  readonly isReplayed: boolean;
  /** The gateway's own `Server-Timing`, which it sends to those who may see it. */
  readonly serverTiming: string | undefined;
}

export interface GatewayClient {
  /**
   * Throws PAYLOAD_TOO_LARGE when variables and document together are larger than a GraphQL request may be, UPSTREAM_TIMEOUT for a slow gateway, UPSTREAM_ERROR for one that is
   * not there or answers something else than GraphQL.
   */
  execute(request: GatewayRequest): Promise<GatewayAnswer>;
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface GatewayClientOptions {
  readonly url: string;
  readonly timeoutMs: number;
  /** PEM: the gateway's own certificate, by which it is known whatever name it is called by. */
  readonly certificate?: string | undefined;
}

export function createGatewayClient({ url, timeoutMs, certificate }: GatewayClientOptions): GatewayClient {
  const address = new URL(url);
  const { origin, pathname } = address;
  const spanAttributes = toPostAttributes(address);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(certificate !== undefined && trustOnly(certificate)) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  return {
    async execute({ documentStart, variables, authorization, requestId, clientHeaders: [name, client], trace, idempotency }) {
      const headers: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': requestId };
      if (name !== undefined && client !== undefined) headers[name] = client;
      if (authorization) headers['authorization'] = authorization;
      if (idempotency) {
        headers['idempotency-key'] = idempotency.key;
        headers['idempotency-scope'] = idempotency.scope;
      }
      const body = `${documentStart}${JSON.stringify(variables)}}`;
      requireSize(body);
      const span = trace?.startCall('POST', spanAttributes);
      if (span) Object.assign(headers, span.toHeaders());
      try {
        const { text, replayed, timing } = await postOnceReachable(pool, { path: pathname, headers, body });
        span?.end();
        const { data, errors: failures } = JSON.parse(text) as Pick<GatewayAnswer, 'data' | 'errors'>;
        return {
          ...(data !== undefined && { data }),
          ...(failures && { errors: failures }),
          isReplayed: replayed === 'true',
          serverTiming: timing,
        };
      } catch (cause) {
        span?.end({}, (cause as Error).name);
        if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError) {
          throw fail('UPSTREAM_TIMEOUT', 'The service behind this one took too long', { cause });
        }
        throw fail('UPSTREAM_ERROR', 'The service behind this one did not answer', { cause });
      }
    },
    async isReady() {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/readyz' });
      await body.dump();
      return statusCode === 200;
    },
    close: () => pool.destroy(),
  };
}

/** The gateway would refuse a larger one while it is still being sent, and then the connection ends without an answer. */
function requireSize(body: string): void {
  // No character has more than three bytes a code unit in UTF-8: the bytes of a small body are not counted.
  if (body.length * 3 <= MAX_REQUEST_BYTES || Buffer.byteLength(body) <= MAX_REQUEST_BYTES) return;
  const [size, limit] = [Buffer.byteLength(body), MAX_REQUEST_BYTES].map(String);
  throw fail('PAYLOAD_TOO_LARGE', `The body with its GraphQL operation has ${size ?? ''} bytes; the limit is ${limit ?? ''}. Send less`);
}

/** A certificate that names the public host is good for a neighbour's address too, if it is the very one. */
function trustOnly(certificate: string): Pick<ConnectionOptions, 'ca' | 'checkServerIdentity'> {
  const { raw } = new X509Certificate(certificate);
  return {
    ca: [...rootCertificates, certificate],
    checkServerIdentity: (_, peer) => (peer.raw.equals(raw) ? undefined : new Error('This is not the gateway: its certificate is another')),
  };
}

interface Post {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Posted {
  readonly text: string;
  readonly replayed: string | undefined;
  readonly timing: string | undefined;
}

/** Pauses before a request is tried again whose connection was refused. */
const RETRY_AFTER_MS = [25, 100, 250, 500];

/**
 * Sends the request again only if it was surely not processed: the connection was refused, as by a gateway that is being replaced
 * (RFC 9110 §9.2.2). One that may have arrived is never repeated.
 */
async function postOnceReachable(pool: Pool, request: Post): Promise<Posted> {
  for (const pauseMs of RETRY_AFTER_MS) {
    try {
      return await post(pool, request);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await delay(pauseMs);
    }
  }
  return post(pool, request);
}

/** The whole answer as text, without a stream in between: on the hot path that is a third of what a request costs. */
function post(pool: Pool, { path, headers, body }: Post): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let replayed: string | undefined;
    let timing: string | undefined;
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, __, sent) {
          replayed = sent['idempotent-replayed'] as string | undefined;
          timing = sent['server-timing'] as string | undefined;
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const [only, ...others] = chunks;
          resolve({ text: only && others.length === 0 ? only.toString() : Buffer.concat(chunks).toString(), replayed, timing });
        },
        onResponseError(_, error) {
          reject(error);
        },
      },
    );
  });
}
