/** An agent: the client of MCP's own SDK, and requests that it would not send. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Reply, request } from '../../stack/clients/client.ts';

export interface AgentOptions {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  /** Gets tokens when the server demands one. */
  readonly authProvider?: OAuthClientProvider;
}

/** Connects an agent to the gateway at `url`, which has no path of its own, and gives it to `act`. */
export async function withAgent<Result>(
  url: string,
  act: (agent: Client) => Promise<Result>,
  { token, headers = {}, path = '/mcp', authProvider }: AgentOptions = {},
): Promise<Result> {
  const agent = new Client({ name: 'scenario', version: '1' });
  const all = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(path, url), { requestInit: { headers: all }, ...(authProvider && { authProvider }) }),
  );
  try {
    return await act(agent);
  } finally {
    await agent.close();
  }
}

/** What the SDK sends with every message. */
export const AGENT_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };

/** A message of JSON-RPC. */
export const toMessage = (method: string, params?: object, id = 1) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) });

/** Sends a message as it is. */
export function send(
  url: string,
  body: unknown,
  { headers = {}, token }: { headers?: Record<string, string>; token?: string | undefined } = {},
): Promise<Reply> {
  return request(`${url}/mcp`, { method: 'POST', body, token, headers: { ...AGENT_HEADERS, ...headers } });
}

/** What a tool returns. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: {
    readonly data?: Readonly<Record<string, unknown>> | null;
    readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
  };
}

/** Calls a tool. */
export async function call(agent: Client, name: string, args: Record<string, unknown> = {}): Promise<ToolResult> {
  return (await agent.callTool({ name, arguments: args })) as unknown as ToolResult;
}
