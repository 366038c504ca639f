/**
 * The endpoint of the Model Context Protocol: `POST /mcp`, streamable HTTP without sessions (MCP 2025-11-25, "Streamable HTTP"). A call of a tool is an
 * operation of the HTTP transport: same caller, limits, pipeline, metrics and log (ADR 33).
 */
import type { IncomingMessage } from 'node:http';
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import type { Log } from '@trestle/log';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { formatFault } from '../../errors/format-fault.ts';
import { readClientApplication } from '../../request/caller.ts';
import type { ClientApplication, OperationResult } from '../../request/operation.ts';
import { readParameters } from '../../request/parameters.ts';
import { type AdmittedRequest, type ArrivedRequest, type Endpoint, runOperation } from '../http/admitted-request.ts';
import { readBody } from '../http/body.ts';
import { rejectCrossSite } from '../http/cross-site.ts';
import { admitExtended } from '../http/extended-admission.ts';
import type { RefusalFormat } from '../http/refusal.ts';
import { readPage } from './page.ts';
import type { respond } from './protocol.ts';
import { type CallResult, toCallResult, toFaultResult } from './call-result.ts';
import type { Tool, Tools } from './tools.ts';

export interface McpOptions {
  readonly tools: Tools;
  /** The client whose documents are tools, in place of the one that the headers name. */
  readonly client: string | undefined;
  /** Origins of browsers that may call tools. */
  readonly isAllowedOrigin: IsAllowedOrigin;
  /** Whether a request without a credential is refused. */
  readonly needsCredential: boolean;
  /** Returns what is added to the value of `WWW-Authenticate`: where the metadata of this resource is. */
  readonly challengeParameters: RefusalFormat['challengeParameters'];
  readonly version: string;
  readonly log: Log;
}

const ALLOW = 'POST, OPTIONS';
/** JSON-RPC: a server error. */
const SERVER_ERROR = -32_000;

/** Creates the endpoint, and loads the SDK. */
export async function createMcpEndpoint(options: McpOptions): Promise<Endpoint> {
  const protocol = await import('./protocol.ts');
  return {
    path: '/mcp',
    refusals: { allow: ALLOW, format: formatRefusal, challengeParameters: options.challengeParameters },
    handle(exchange, arrived, transport) {
      const { request } = exchange;
      if (request.method === 'OPTIONS') {
        exchange.sendText(200, { allow: ALLOW }, '');
        return;
      }
      if (request.method !== 'POST') throw fail('METHOD_NOT_ALLOWED', 'Use POST: this server keeps no sessions and opens no streams.');
      rejectCrossSite(request);
      rejectForeignOrigin(request, options);
      if (options.needsCredential && isAnonymous(arrived)) throw fail('UNAUTHORIZED', 'A credential is required. Send an access token.');
      admitExtended(exchange, { ...arrived, hasOwnFormat: true, options: transport }, (admitted) => {
        readBody(request, transport.maxBodyBytes, (error, body) => {
          exchange.guard(() => {
            if (error) throw error;
            if (Array.isArray(body)) throw fail('VALIDATION_ERROR', 'Batches are not supported. Send one message.');
            exchange.guardAsync(answer(admitted, body, { ...options, respond: protocol.respond }));
          });
        });
      });
    },
  };
}

/** A page whose name has been pointed to this machine sends its own name as origin and host; no other client sends an origin. */
function rejectForeignOrigin(request: IncomingMessage, { isAllowedOrigin }: McpOptions): void {
  if (request.headers.origin !== undefined && !isAllowedOrigin(request))
    throw fail('FORBIDDEN', 'The origin may not call tools. The operator of the API must add it to CORS_ORIGINS.');
}

/** An invalid credential is refused by the admission, which says why. */
function isAnonymous({ identification: { identity, fault } }: ArrivedRequest): boolean {
  return identity.caller === null && fault === undefined;
}

/** Returns the error of a message that was not read, or not admitted. */
function formatRefusal(fault: Fault, requestId: string): object {
  const { message, extensions } = formatFault(fault, requestId);
  return { jsonrpc: '2.0', id: null, error: { code: SERVER_ERROR, message, data: extensions } };
}

interface Answering extends McpOptions {
  readonly respond: typeof respond;
}

async function answer(admitted: AdmittedRequest, body: object, options: Answering): Promise<void> {
  const { exchange } = admitted;
  const { tools, version } = options;
  const client: ClientApplication =
    options.client === undefined ? readClientApplication(exchange.request) : { name: options.client, version: undefined };
  const response = await options.respond(
    { body, headers: exchange.request.headers },
    {
      list: async (cursor) => readPage(await listTools(tools, client), cursor),
      call: async (name, args) => {
        const tool = (await listTools(tools, client)).get(name);
        return tool && (await callTool(admitted, { tool, args, client, log: options.log }));
      },
    },
    { version },
  );
  const text = await response.text();
  const type = response.headers.get('content-type');
  if (text === '') exchange.sendText(response.status, {}, '');
  else exchange.sendResult(response.status, { 'content-type': type ?? 'application/json' }, toBytes(text));
}

/** Rejects with a message that clients may see. */
async function listTools(tools: Tools, client: ClientApplication): Promise<ReadonlyMap<string, Tool>> {
  try {
    return await tools.list(client);
  } catch (error) {
    throw new Error(toFault(error).message, { cause: error });
  }
}

interface Call {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly client: ClientApplication;
  readonly log: Log;
}

/** Runs the operation of a tool. Never rejects: every failure is in the result. */
function callTool(admitted: AdmittedRequest, { tool, args, client, log }: Call): Promise<CallResult> {
  const { exchange } = admitted;
  const { requestId } = exchange;
  return new Promise((resolve) => {
    const refuse = (error: unknown) => {
      const fault = toFault(error);
      if (fault.code === 'INTERNAL_ERROR') log.error('request failed', { requestId, error });
      resolve(toFaultResult(fault, requestId));
    };
    try {
      requireKnown(args, tool);
      const { documentId, operationName } = tool;
      const parameters = readParameters({ documentId, operationName, variables: args });
      runOperation(admitted, { parameters, client }, (result) => {
        exchange.record.setOperation(result.operationName, result.operationKind);
        try {
          resolve(toCallResult(result));
        } catch (error) {
          refuse(error);
        }
      });
    } catch (error) {
      exchange.record.setOperation(tool.name, tool.kind);
      refuse(error);
    }
  });
}

/** GraphQL ignores variables that the operation does not have; an agent that misspells one should know. Throws VALIDATION_ERROR. */
function requireKnown(args: Readonly<Record<string, unknown>>, { inputSchema }: Tool): void {
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(inputSchema.properties, name));
  if (unknown.length === 0) return;
  const details = unknown.slice(0, 20).map((field) => ({ field: field.slice(0, 100), message: 'unknown argument' }));
  throw fail('VALIDATION_ERROR', `Unknown arguments: ${details.map(({ field }) => `\`${field}\``).join(', ')}.`, { details });
}

function toBytes(text: string): OperationResult {
  const bytes = Buffer.from(text);
  const none = { status: undefined, challenge: undefined, operationKind: undefined, operationName: undefined, release: undefined };
  return { outcome: 'complete', bytes, length: bytes.length, ...none };
}
