/** The headers of requests and responses that the settings of a graph name. No I/O. */
import { listTraceHeaders } from '@trestle/telemetry/propagator-names';
import type { Config } from './config.ts';
import { findPropagated, findReturned } from './headers/header-rules.ts';
import { findSourceHeaders } from './request/token-sources.ts';

const MCP_HEADERS = ['mcp-protocol-version'];

/** Returns the request headers that any subgraph may get. They are part of a caller's identity, because they may change results. */
export function findCollectedHeaders({ forwardHeaders, headerRules, labels: { header }, CANARY_HEADER: canary }: Config): string[] {
  const ours = [header, canary].filter((name) => name !== undefined);
  return [...new Set([...forwardHeaders, ...findPropagated(headerRules), ...ours])];
}

/** Returns the names, in lower case, of the headers that pages of other origins may send, and of those that their scripts may read, beside common ones. */
export function findCorsHeaders(configs: readonly Config[]): { readonly requestHeaders: string[]; readonly responseHeaders: string[] } {
  const sent = configs.flatMap((config) => [
    ...findCollectedHeaders(config),
    ...findSourceHeaders(config.TOKEN_SOURCES).filter((name) => name !== 'cookie'),
    ...(config.MCP ? MCP_HEADERS : []),
    ...(config.extensions.coprocessor?.headers ?? []),
    ...listTraceHeaders(config.OTEL_PROPAGATORS.filter((name) => name !== 'tracecontext')),
    ...config.CORS_REQUEST_HEADERS,
  ]);
  const read = configs.flatMap((config) => [...findReturned(config.headerRules), ...config.CORS_RESPONSE_HEADERS]);
  return { requestHeaders: toNames(sent), responseHeaders: toNames(read) };
}

function toNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))];
}
