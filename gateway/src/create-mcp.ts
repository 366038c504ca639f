/** The endpoints for agents of one graph. */
import type { Log } from '@trestle/log';
import type { Edge } from '@trestle/service/edge/edge';
import type { GraphConfig } from './config.ts';
import type { Engine } from './engines/engine.ts';
import { createGraphUrls } from './graph-urls.ts';
import { readVersion } from './package-files.ts';
import type { Endpoint } from './transports/http/admitted-request.ts';
import { createMcpEndpoint } from './transports/mcp/mcp-endpoint.ts';
import { createMcpOrigins } from './transports/mcp/mcp-origins.ts';
import { createResourceMetadata } from './transports/mcp/resource-metadata.ts';
import { createTools } from './transports/mcp/tools.ts';
import type { TrustedDocumentsWatch } from './watch-documents.ts';

interface McpParts {
  readonly edge: Edge;
  readonly log: Log;
  readonly engine: Engine;
  readonly readTrusted: TrustedDocumentsWatch['read'];
}

/** Creates the endpoints for agents (MCP); an empty list where MCP is off. */
export async function createMcp({ place, config }: GraphConfig, { engine, readTrusted, edge, log }: McpParts): Promise<Endpoint[]> {
  const { describe } = engine;
  const { PUBLIC_URL: publicUrl, MCP_AUTHORIZATION_SERVERS: authorizationServers } = config;
  if (!config.MCP || !describe) return [];
  const urls = publicUrl === undefined ? undefined : createGraphUrls(publicUrl, place);
  const metadata =
    urls === undefined || authorizationServers.length === 0
      ? undefined
      : createResourceMetadata({ graphUrlOf: urls.of, authorizationServers });
  const mcp = await createMcpEndpoint({
    tools: createTools({ readTrusted, describe, readHash: () => engine.hash, hasMutations: config.MCP_MUTATIONS, log }),
    client: config.MCP_CLIENT,
    isAllowedOrigin: createMcpOrigins({
      origins: [...(urls?.origins ?? []), ...config.CORS_ORIGINS],
      isAllowedOrigin: edge.isAllowedOrigin,
    }),
    needsCredential: config.MCP_REQUIRE_CREDENTIAL,
    challengeParameters: metadata?.challengeParameters,
    version: readVersion(),
    log,
  });
  return metadata ? [mcp, metadata.endpoint] : [mcp];
}
