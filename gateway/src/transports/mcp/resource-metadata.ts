/** Where agents get tokens for `/mcp`: the metadata of a protected resource (RFC 9728; MCP 2025-11-25, "Authorization"). */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { formatFault } from '../../errors/format-fault.ts';
import { type Endpoint, isGet } from '../http/admitted-request.ts';
import type { RefusalFormat } from '../http/refusal.ts';

const ALLOW = 'GET, HEAD, OPTIONS';
/** The path in a graph. A process also serves it at the address that RFC 9728 §3.1 derives from that of `/mcp` (`choose-graph.ts`). */
const PATH = '/.well-known/oauth-protected-resource/mcp';
/** Seconds. */
const MAX_AGE = 300;

export interface ResourceMetadataOptions {
  /** Returns the public address of the graph for a request, without `/` at its end. */
  readonly graphUrlOf: (request: Pick<IncomingMessage, 'headers'>) => string;
  /** The issuers whose tokens are accepted (RFC 8414 §2). */
  readonly authorizationServers: readonly string[];
}

export interface ResourceMetadata {
  readonly endpoint: Endpoint;
  /** Returns what leads from a response with status 401 to the metadata (RFC 9728 §5.1). */
  readonly challengeParameters: NonNullable<RefusalFormat['challengeParameters']>;
}

/** Creates the endpoint of the metadata. */
export function createResourceMetadata({ graphUrlOf, authorizationServers }: ResourceMetadataOptions): ResourceMetadata {
  const describe = (request: IncomingMessage) => ({
    resource: `${graphUrlOf(request)}/mcp`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
  });
  const head = { 'content-type': 'application/json; charset=utf-8', 'cache-control': `public, max-age=${String(MAX_AGE)}` };
  return {
    challengeParameters: (request) => `, resource_metadata="${graphUrlOf(request)}${PATH}"`,
    endpoint: {
      path: PATH,
      refusals: { allow: ALLOW, format: (fault, requestId) => ({ errors: [formatFault(fault, requestId)] }) },
      handle(exchange) {
        const { request } = exchange;
        if (request.method === 'OPTIONS') exchange.sendText(200, { allow: ALLOW }, '');
        else if (isGet(request)) exchange.sendText(200, head, JSON.stringify(describe(request)));
        else throw fail('METHOD_NOT_ALLOWED', 'Use GET.');
      },
    },
  };
}
