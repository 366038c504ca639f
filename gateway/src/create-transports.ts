/** Creates the transports of a graph: HTTP, WebSockets, server-sent events and results in parts. */
import type { ApiKeyExchange } from '@trestle/identity/credentials/api-key-exchange';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { GraphConfig } from './config.ts';
import type { Hooks } from './extensions/compile-hooks.ts';
import { findCollectedHeaders } from './collected-headers.ts';
import { createMatcher } from './headers/header-rules.ts';
import { createHeaderRecorder } from './observability/recorded-headers.ts';
import { createRequestMetrics } from './observability/request-metrics.ts';
import { createTransportMetrics } from './observability/subscription-metrics.ts';
import type { RunOperation } from './request/operation.ts';
import { createTokenFinder, findSourceHeaders } from './request/token-sources.ts';
import { StreamedResponses } from './transports/delivery/streamed-responses.ts';
import { toCacheVary } from './transports/http/cache-control.ts';
import type { Endpoint } from './transports/http/admitted-request.ts';
import { createHttpTransport } from './transports/http/http-transport.ts';
import { ReservedStreams } from './transports/sse/reserved-streams.ts';
import { WebSocketTransport } from './transports/websocket/websocket-transport.ts';
import type { TrustedDocumentsWatch } from './watch-documents.ts';
import type { Observers, SharedParts } from './shared-parts.ts';

/** What the transports of a graph need. */
export interface TransportParts extends SharedParts, Observers {
  readonly hooks: Hooks;
  readonly run: RunOperation;
  readonly verifier: TokenVerifier | undefined;
  readonly apiKeys: ApiKeyExchange | undefined;
  readonly endpoints: readonly Endpoint[];
  readonly readTrusted: TrustedDocumentsWatch['read'];
  readonly hasSubscriptions: () => boolean;
}

/** Creates the transports of a graph. `drain` resolves when no subscription and no response in parts is left, or when their time is over. */
export function createTransports(
  { place, config }: GraphConfig,
  { buffers, metrics: registry, edge, readTrusted, ...parts }: TransportParts,
) {
  const { maxSockets: maxStreams, maxOperations, maxMessageBytes: maxOperationBytes, queue: limits } = config.sockets;
  const { forwardMutationHeaders } = config;
  const { SUBSCRIPTION_DRAIN_MS: subscriptionDrainMs, REQUEST_DRAIN_MS: requestDrainMs } = config;
  const { verifier } = parts;
  const forwardHeaders = findCollectedHeaders(config);
  const isForwarded = createMatcher(config.headerRules, findSourceHeaders(config.TOKEN_SOURCES));
  const requestParts = {
    ...parts,
    path: config.GRAPHQL_PATH,
    publicPath: place.path + config.GRAPHQL_PATH,
    isCredentialRequired: config.AUTH_REQUIRED,
    isAllowedOrigin: edge.isAllowedOrigin,
    tokens: createTokenFinder(config.TOKEN_SOURCES, edge.isAllowedOrigin),
    recordHeaders: createHeaderRecorder(config.OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST),
    forwardHeaders,
    isForwarded,
  };
  const changing = [...forwardHeaders, ...findSourceHeaders(config.TOKEN_SOURCES)];
  const requests = createRequestMetrics(registry);
  const metrics = createTransportMetrics(registry);
  const responses = new StreamedResponses({ verifier, limits, buffers, maxStreams, metrics });
  const reserved = new ReservedStreams({ responses, verifier, limits, buffers, maxOperations, maxOperationBytes, metrics });
  const sockets = new WebSocketTransport({
    ...requestParts,
    fixedHeader: config.TLS_CLIENT_SUBJECT_HEADER,
    prepare: edge.prepare,
    limits: config.sockets,
    buffers,
    requests,
    metrics,
  });
  const handle = createHttpTransport({
    ...requestParts,
    forwardMutationHeaders,
    maxBatch: config.MAX_BATCH,
    maxBodyBytes: config.MAX_BODY_BYTES,
    maxUploadBytes: config.MAX_UPLOAD_BYTES,
    hasGraphiql: config.GRAPHIQL,
    readCacheVary: () => toCacheVary({ changing, hasPatterns: isForwarded !== undefined, isBy: readTrusted()?.isBy }),
    responses,
    reserved,
    metrics: requests,
  });
  return {
    handle,
    upgrade: sockets.upgrade,
    drain: async () => {
      reserved.stop();
      await Promise.all([sockets.drain(subscriptionDrainMs, subscriptionDrainMs + requestDrainMs), responses.drain(subscriptionDrainMs)]);
    },
  };
}
