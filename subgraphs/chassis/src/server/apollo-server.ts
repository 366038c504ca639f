/** The Apollo Server of a subgraph, and its HTTP endpoint. */
import type { IncomingMessage } from 'node:http';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { ERRORS, Fault } from '@trestle/schema/errors';
import express, { type Express } from 'express';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createDocumentCache } from '../graphql/document-cache.ts';
import { MAX_TOKENS } from '../graphql/document-limits.ts';
import { createErrorPlugin, formatError } from '../graphql/errors.ts';
import { replayPlugin } from '../graphql/replay-plugin.ts';
import type { RequestContext, RequestReport } from '../request/context.ts';
import { parseIdempotencyKey } from '../request/idempotency-key.ts';
import type { InFlight } from './in-flight.ts';
import { type RequestTelemetry, reportOf } from './request-telemetry.ts';

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
    documentStore: createDocumentCache(),
    parseOptions: { maxLexicalTokens: MAX_TOKENS },
    plugins: [
      plugin,
      createErrorPlugin(log),
      replayPlugin,
      ApolloServerPluginInlineTraceDisabled(),
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
  readonly verifier: TokenVerifier;
  readonly createContext: (request: RequestContext) => RequestContext;
}

/** Creates the Express application that serves `/graphql`. */
export function createHttpApp({ server, inFlight, telemetry, verifier, createContext }: HttpOptions): Express {
  return express()
    .disable('x-powered-by')
    .use(inFlight.count)
    .use(telemetry.observe)
    .use(
      '/graphql',
      express.json({ limit: MAX_REQUEST_BYTES }),
      expressMiddleware(server, {
        context: ({ req, res }) => Promise.resolve(createContext(toRequestContext(req, { report: reportOf(res), verifier }))),
      }),
    );
}

/** A subgraph does not trust the gateway's word on the caller: it verifies the caller's token itself (spec §5.3). */
function toRequestContext(
  request: IncomingMessage,
  { report, verifier }: { readonly report: RequestReport; readonly verifier: TokenVerifier },
): RequestContext {
  const { requestId } = report;
  try {
    const token = readBearerToken(request.rawHeaders);
    const caller = token === undefined ? null : verifier.verify(token);
    return { caller, requestId, denials: new Map(), idempotency: parseIdempotencyKey(request.headers), report };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message } = error;
    throw new GraphQLError(message, { originalError: error, extensions: { code, requestId, http: { status: ERRORS[code].status } } });
  }
}
