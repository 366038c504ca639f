/** Where agents get tokens for `/mcp`: the metadata of a protected resource (RFC 9728; MCP 2025-11-25, "Authorization"). */
import { fail } from '@trestle/schema/errors';
import { formatFault } from '../../errors/format-fault.ts';
import { type Endpoint, isGet } from '../http/admitted-request.ts';

const ALLOW = 'GET, HEAD, OPTIONS';
/** With one graph this is the address that RFC 9728 §3.1 derives from that of `/mcp`. */
const PATH = '/.well-known/oauth-protected-resource/mcp';
/** Seconds. */
const MAX_AGE = 300;

export interface ResourceMetadataOptions {
  /** The public address of the graph, without `/` at its end. */
  readonly graphUrl: string;
  /** The issuers whose tokens are accepted (RFC 8414 §2). */
  readonly authorizationServers: readonly string[];
}

export interface ResourceMetadata {
  readonly endpoint: Endpoint;
  /** Leads from a response with status 401 to the metadata (RFC 9728 §5.1). */
  readonly challengeParameters: string;
}

/** Creates the endpoint of the metadata. */
export function createResourceMetadata({ graphUrl, authorizationServers }: ResourceMetadataOptions): ResourceMetadata {
  const text = JSON.stringify({
    resource: `${graphUrl}/mcp`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
  });
  const head = { 'content-type': 'application/json; charset=utf-8', 'cache-control': `public, max-age=${String(MAX_AGE)}` };
  return {
    challengeParameters: `, resource_metadata="${graphUrl}${PATH}"`,
    endpoint: {
      path: PATH,
      refusals: { allow: ALLOW, format: (fault, requestId) => ({ errors: [formatFault(fault, requestId)] }) },
      handle(exchange) {
        const { request } = exchange;
        if (request.method === 'OPTIONS') exchange.sendText(200, { allow: ALLOW }, '');
        else if (isGet(request)) exchange.sendText(200, head, text);
        else throw fail('METHOD_NOT_ALLOWED', 'Use GET.');
      },
    },
  };
}
