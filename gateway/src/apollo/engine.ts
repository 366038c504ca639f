/** The engine `apollo`: @apollo/gateway under Apollo Server, with our own calls to the subgraphs. */
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import type { Log } from '@trestle/log';
import { ERRORS, type Fault, fail } from '@trestle/schema/errors';
import { GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Engine, EngineContext } from '../engine.ts';
import { formatError } from '../errors.ts';
import { MAX_TOKENS, limitOperations, limitVariables } from '../limits/limits.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { createErrorPlugin } from './error-plugin.ts';

export interface ApolloEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly log: Log;
}

/** Throws for a supergraph that is not valid. `APOLLO_TELEMETRY_DISABLED` must be set before: the gateway reports home otherwise. */
export async function createApolloEngine({ supergraphSdl, upstreams, log }: ApolloEngineOptions): Promise<Engine> {
  let update: (sdl: string) => void = () => undefined;
  const gateway = new ApolloGateway({
    supergraphSdl: ({ update: take }) => {
      update = take;
      return Promise.resolve({ supergraphSdl });
    },
    buildService: ({ name, url }) => createSource(upstreams, { name, url: url ?? '' }),
    logger: toApolloLog(log),
  });
  const server = new ApolloServer<EngineContext>({
    gateway,
    formatError,
    validationRules: [limitOperations],
    parseOptions: { maxLexicalTokens: MAX_TOKENS },
    plugins: [
      createErrorPlugin(log),
      refuseBeforePlanning,
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
    introspection: true,
    logger: toApolloLog(log),
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
  });
  await server.start();
  return {
    async respond({ method, headers, search, body, context }) {
      const reply = await server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method, headers: toHeaderMap(headers), search, body },
        context: () => Promise.resolve(context),
      });
      // Chunks come for @defer only, which a gateway's schema does not have.
      const text = reply.body.kind === 'complete' ? reply.body.string : '';
      const status = reply.status ?? 200;
      return {
        status,
        headers: Object.fromEntries(reply.headers),
        body: status < 400 ? text : completeErrors(text, { status, requestId: context.requestId }),
      };
    },
    swap: (sdl) =>
      new Promise((resolve) => {
        update(sdl);
        resolve();
      }),
    stop: async () => {
      await server.stop();
      await upstreams.close();
    },
  };
}

/** Requests that Apollo Server refuses before it knows an operation pass no plugin: their errors get what ours have here. */
function completeErrors(text: string, { status, requestId }: { status: number; requestId: string }): string {
  const { errors, ...rest } = JSON.parse(text) as { errors: GraphQLFormattedError[] };
  const code = status === ERRORS.METHOD_NOT_ALLOWED.status ? { code: 'METHOD_NOT_ALLOWED' } : {};
  return JSON.stringify({
    errors: errors.map((error) => ({ ...error, extensions: { ...error.extensions, ...code, requestId } })),
    ...rest,
  });
}

function createSource(upstreams: Upstreams, { name, url }: { name: string; url: string }): GraphQLDataSource {
  const upstream = upstreams.open(name, url);
  return {
    process: async ({ request: { query, operationName, variables }, context }) => {
      const answer = await upstream.fetch({ query, operationName, variables }, context as EngineContext);
      return answer;
    },
  };
}

/** What a valid document does not tell: subscriptions are in the schema, and have no door yet; variables come beside it. */
const refuseBeforePlanning: ApolloServerPlugin<EngineContext> = {
  requestDidStart: () =>
    Promise.resolve({
      didResolveOperation: ({ operation, request }) => {
        try {
          if (operation?.operation === OperationTypeNode.SUBSCRIPTION) throw fail('NOT_IMPLEMENTED', 'Subscriptions have no door yet');
          limitVariables(request.variables);
        } catch (fault) {
          throw toGraphQLError(fault as Fault);
        }
        return Promise.resolve();
      },
    }),
};

function toGraphQLError(fault: Fault): GraphQLError {
  const { code, message, details } = fault;
  return new GraphQLError(message, { originalError: fault, extensions: { code, details, http: { status: ERRORS[code].status } } });
}

function toHeaderMap(headers: ReadonlyMap<string, string>): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of headers) map.set(name, value);
  return map;
}

/** What the library wants to say is for us, not for the terminal, and may quote anything: only that it spoke is told. */
function toApolloLog(log: Log) {
  const quiet = () => undefined;
  return {
    debug: quiet,
    info: quiet,
    warn: (message?: unknown) => {
      log.warn('warning of the engine', { error: new Error(String(message)) });
    },
    error: (message?: unknown) => {
      log.error('error of the engine', { error: message instanceof Error ? message : new Error(String(message)) });
    },
  };
}
