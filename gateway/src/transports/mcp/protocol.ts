/** The Model Context Protocol by its official SDK: one server and one transport for each request, without a session. Loaded only where MCP is on. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  type CallToolResult,
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
} from '@modelcontextprotocol/sdk/types.js';
import { findInvalidParams } from './invalid-params.ts';
import type { Page } from './page.ts';

/** What a request can do. */
export interface ProtocolHandlers {
  /** Returns undefined for an invalid cursor. */
  readonly list: (cursor: string | undefined) => Promise<Page | undefined>;
  /** Returns undefined for an unknown tool. Must not reject with what a client may not see. */
  readonly call: (name: string, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult | undefined>;
}

export interface ProtocolOptions {
  readonly version: string;
}

/** The headers of a request that the SDK reads. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version'];

/** Results of clients are not read: the SDK's validator, which takes milliseconds to create, is not needed. */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('No schema is validated here.');
  },
};

const INSTRUCTIONS =
  'Each tool runs one GraphQL operation with your own rights and returns its result: `data`, and `errors` with a code in `extensions.code`.';

/** Handles one JSON-RPC message. The response has the body and the status that the protocol demands. */
export async function respond(
  { body, headers }: { readonly body: object; readonly headers: Readonly<Record<string, string | string[] | undefined>> },
  { list, call }: ProtocolHandlers,
  { version }: ProtocolOptions,
): Promise<Response> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- McpServer takes schemas of zod; these come from GraphQL
  const server = new Server(
    { name: 'trestle-gateway', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  );
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }): Promise<ListToolsResult> => {
    const page = await list(params?.cursor);
    if (!page) throw new ProtocolFault('The cursor is not valid. Begin without one.');
    return { tools: page.tools as ListToolsResult['tools'], nextCursor: page.nextCursor };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const result = await call(params.name, params.arguments ?? {});
    if (!result) throw new ProtocolFault(`Unknown tool: ${params.name.slice(0, 128)}`);
    return result;
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const given = HEADERS.flatMap((name): [string, string][] => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    });
    const response = await transport.handleRequest(new Request('http://gateway/mcp', { method: 'POST', headers: given }), {
      parsedBody: body,
    });
    const invalid = response.status === 200 ? findInvalidParams(body) : undefined;
    if (invalid === undefined) return response;
    return Response.json({ jsonrpc: '2.0', id: (body as { id?: unknown }).id, error: { code: ErrorCode.InvalidParams, message: invalid } });
  } finally {
    await server.close();
  }
}

/** An error of the protocol. The message of an `McpError` begins with its code, which the SDK's client adds too. */
class ProtocolFault extends Error {
  readonly code = ErrorCode.InvalidParams;
}
