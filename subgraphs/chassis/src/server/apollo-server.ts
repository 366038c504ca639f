/** The Apollo Server of a subgraph, and its HTTP endpoint. */
import type { RequestListener } from 'node:http';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import { readBearerToken } from '@trestle/identity/credentials/credential';
import type { Log } from '@trestle/log';
import { ERRORS, Fault } from '@trestle/schema/errors';
import express, { type RequestHandler, type Response } from 'express';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createDocumentCache } from '../graphql/document-cache.ts';
import { MAX_TOKENS } from '../graphql/document-limits.ts';
import { createErrorPlugin, formatError } from '../graphql/errors.ts';
import { limitNesting } from '../graphql/nesting-limit.ts';
import { replayPlugin } from '../graphql/replay-plugin.ts';
import { resultLimitPlugin } from '../graphql/result-limits.ts';
import { findDocumentError, validationPlugin } from '../graphql/validate-document.ts';
import type { CallerVerifier, RequestContext } from '../request/context.ts';
import { toHttpExchange } from '../request/http-exchange.ts';
import { parseIdempotencyKey } from '../request/idempotency-key.ts';
import { receiveUploads } from '../uploads/receive-uploads.ts';
import { createGraphqlEndpoint } from './graphql-endpoint.ts';
import type { InFlight } from './in-flight.ts';
import { largeResultPlugin } from './large-results.ts';
import { type Exchange, createErrorHandler, refuseUnknownPath, requireUtf8 } from './refused-requests.ts';
import { type RequestTelemetry, reportOf } from './request-telemetry.ts';
import type { Endpoint, Subgraph } from './subgraph.ts';

/** The gateway accepts 1 MiB from a client, and adds the representations of the entities that it has found so far. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** What Apollo Server is created from. */
export interface ApolloServerOptions {
  readonly schema: GraphQLSchema;
  readonly log: Log;
  readonly plugin: ApolloServerPlugin<RequestContext>;
}

/** Creates and starts Apollo Server. Errors are formatted, masked and logged by `graphql/errors.ts`. */
export async function startApolloServer({ schema, log, plugin }: ApolloServerOptions): Promise<ApolloServer<RequestContext>> {
  const server = new ApolloServer<RequestContext>({
    schema,
    formatError,
    // Apollo Server stores a document before its plugins are called.
    documentStore: createDocumentCache((document) => findDocumentError(schema, document) === undefined),
    parseOptions: { maxLexicalTokens: MAX_TOKENS },
    dangerouslyDisableValidation: true,
    plugins: [
      // In place of the validation that is disabled.
      validationPlugin,
      plugin,
      createErrorPlugin(log),
      resultLimitPlugin,
      replayPlugin,
      largeResultPlugin,
      // It would wrap the resolver of each field. The gateway reads `@cacheControl` of the supergraph (ADR 32).
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      // Its page loads scripts from other hosts.
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
    introspection: true,
    csrfPrevention: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
  });
  await server.start();
  return server;
}

/** What the HTTP endpoint is created from. */
export interface HttpOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly inFlight: InFlight;
  readonly telemetry: RequestTelemetry;
  readonly verifier: CallerVerifier;
  readonly createContext: (request: RequestContext) => RequestContext;
  /** The subgraph's own endpoints. */
  readonly endpoints?: Subgraph<RequestContext>['endpoints'];
  /** Serves pages to browsers, and calls `next` for any other request. */
  readonly pages?: RequestHandler;
  readonly uploads?: Subgraph<RequestContext>['uploads'];
  readonly log: Log;
}

/** Creates the listener that serves `/graphql` and the subgraph's own endpoints. */
export function createHttpApp(options: HttpOptions): RequestListener {
  const { server, inFlight, telemetry, verifier, createContext, endpoints, uploads, log } = options;
  const toContext = (exchange: Exchange) => createContext(toRequestContext(exchange, verifier));
  const app = express()
    .disable('x-powered-by')
    // A POST has no use for an entity tag of its response.
    .disable('etag')
    .use(inFlight.count)
    .use(telemetry.observe)
    .use(options.pages ?? passOn)
    .use(routeEndpoints(Object.entries(endpoints ?? {})))
    .use(
      '/graphql',
      receiveUploads({ uploads, verifier, log, requestIdOf: (response) => reportOf(response as Response).requestId }),
      express.json({ limit: MAX_REQUEST_BYTES, verify: requireUtf8 }),
      refuseNesting,
      expressMiddleware(server, {
        context: ({ req, res }) => Promise.resolve(toContext({ request: req, response: res })),
      }),
    )
    .use(refuseUnknownPath)
    .use(createErrorHandler(log));
  return createGraphqlEndpoint({ server, inFlight, telemetry, toContext, maxBytes: MAX_REQUEST_BYTES, log, others: app });
}

const passOn: RequestHandler = (_, __, next) => {
  next();
};

/** A GET has its parameters in the URL. */
const refuseNesting: RequestHandler = ({ method, url, body }, _, next) => {
  const [, search = ''] = url.split('?', 2);
  limitNesting(method === 'POST' ? ((body as object | undefined) ?? {}) : Object.fromEntries(new URLSearchParams(search)));
  next();
};

/** Routes by the path as it was received: Express would change the URL that the endpoint reads. */
function routeEndpoints(endpoints: readonly (readonly [string, Endpoint])[]): RequestHandler {
  return (request, response, next) => {
    const [path = ''] = request.url.split('?', 1);
    const found = endpoints.find(([start]) => path === start || (start.endsWith('/') && path.startsWith(start)));
    if (!found) {
      next();
      return;
    }
    const [start, handle] = found;
    reportOf(response).route = start.endsWith('/') ? `${start}*` : start;
    handle(request, response);
  };
}

/** A subgraph does not trust the gateway's word on the caller: it verifies the caller's token itself (spec §5.3). */
function toRequestContext({ request, response }: Exchange, verifier: CallerVerifier): RequestContext {
  const report = reportOf(response);
  const { requestId } = report;
  try {
    const token = readBearerToken(request.rawHeaders);
    const caller = token === undefined ? null : verifier.verify(token);
    return {
      caller,
      requestId,
      denials: new Map(),
      idempotency: parseIdempotencyKey(request.headers),
      report,
      // No response is sent once the client has ended its side of the connection.
      isAbandoned: () => response.destroyed || request.socket.readableEnded,
      http: toHttpExchange(request, response),
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message } = error;
    throw new GraphQLError(message, { originalError: error, extensions: { code, requestId, http: { status: ERRORS[code].status } } });
  }
}
