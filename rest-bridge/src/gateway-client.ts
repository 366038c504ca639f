/** Calls the gateway: GraphQL over HTTP on kept-alive connections. */
import { fail } from '@trestle/schema/errors';
import { Pool, errors } from 'undici';

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface GatewayRequest {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The caller's own credential, as sent. */
  readonly authorization: string | undefined;
  readonly requestId: string;
}

export interface GatewayError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: unknown; readonly details?: unknown; readonly masked?: unknown };
}

export interface GatewayAnswer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GatewayError[];
}

export interface GatewayClient {
  /** Throws UPSTREAM_TIMEOUT for a slow gateway, UPSTREAM_ERROR for one that is not there or answers something else than GraphQL. */
  execute(request: GatewayRequest): Promise<GatewayAnswer>;
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export function createGatewayClient({ url, timeoutMs }: { readonly url: string; readonly timeoutMs: number }): GatewayClient {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  return {
    async execute({ text, variables, authorization, requestId }) {
      try {
        const { body } = await pool.request({
          method: 'POST',
          path: pathname,
          headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...(authorization && { authorization }) },
          body: JSON.stringify({ query: text, variables }),
        });
        return (await body.json()) as GatewayAnswer;
      } catch (cause) {
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
