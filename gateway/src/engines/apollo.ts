/** The engine `apollo`: @apollo/gateway under Apollo Server, with our own calls to the subgraphs. */
import { createHash } from 'node:crypto';
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import type { Log } from '@trestle/log';
import { ERRORS, type Fault, fail } from '@trestle/schema/errors';
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { Engine, EngineContext, EngineReply, EngineRequest, Outcome } from './engine.ts';
import { type SubgraphErrors, formatError } from '../errors/format-error.ts';
import { type Limits, limitOperations, limitVariables } from '../limits/limits.ts';
import { expandOperation } from '../plan/expand-operation.ts';
import { patchVariableCollector } from '../plan/patch-variables.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { createErrorPlugin } from './apollo-errors.ts';

/** What Apollo Server hands from one of its hooks to the next. */
interface ApolloContext extends EngineContext {
  readonly isReadOnly: boolean;
  operation: OperationDefinitionNode | undefined;
}

type GraphQLResponse = Awaited<ReturnType<GraphQLDataSource['process']>>;

export interface ApolloEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  readonly log: Log;
  /** What clients may know of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
}

/** Throws for a supergraph that is not valid. `APOLLO_TELEMETRY_DISABLED` must be set before: the gateway reports home otherwise. */
export async function createApolloEngine({ supergraphSdl, upstreams, limits, log, subgraphErrors }: ApolloEngineOptions): Promise<Engine> {
  let hash = hashOf(supergraphSdl);
  let update: (sdl: string) => void = () => undefined;
  const gateway = new ApolloGateway({
    supergraphSdl: ({ update: take }) => {
      update = take;
      return Promise.resolve({ supergraphSdl });
    },
    buildService: ({ name, url }) => createSource(upstreams, { name, url: url ?? '' }),
    logger: toApolloLog(log),
  });
  patchVariableCollector();
  const server = new ApolloServer<ApolloContext>({
    gateway,
    formatError: (formatted, error) => formatError(formatted, error, subgraphErrors),
    validationRules: [limitOperations(limits)],
    parseOptions: { maxLexicalTokens: limits.maxTokens },
    plugins: [
      createErrorPlugin(log),
      createRefusals(limits),
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
    respond(request, done) {
      run(server, request).then(done, (error: unknown) => {
        log.error('request failed', { requestId: request.context.requestId, error });
        const { requestId } = request.context;
        done(
          toReply(
            { errors: [{ message: 'Something went wrong on our side', extensions: { code: 'INTERNAL_ERROR', requestId } }] },
            { outcome: 'failed' },
          ),
        );
      });
    },
    swap: (sdl) =>
      new Promise((resolve) => {
        update(sdl);
        hash = hashOf(sdl);
        resolve();
      }),
    get hash() {
      return hash;
    },
    stop: async () => {
      await server.stop();
      await upstreams.close();
    },
  };
}

async function run(server: ApolloServer<ApolloContext>, request: EngineRequest): Promise<EngineReply> {
  const { query, operationName, variables, context } = request;
  const seen: ApolloContext = { ...context, isReadOnly: request.isReadOnly, operation: undefined };
  const { body, http } = await server.executeOperation(
    { query, ...(operationName !== undefined && { operationName }), variables },
    { contextValue: seen },
  );
  // Chunks come for @defer only, which a gateway's schema does not have.
  const result = body.kind === 'single' ? body.singleResult : { errors: [] };
  const isRefused = !('data' in result);
  const outcome = isRefused ? 'refused' : result.data === null ? 'failed' : result.errors?.length ? 'partial' : 'complete';
  const errors = result.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId: context.requestId } }));
  const status = http.status === undefined || http.status === 400 || http.status === 200 ? undefined : http.status;
  return toReply({ ...result, ...(errors && { errors }) }, { outcome, status, operation: seen.operation });
}

function toReply(
  result: object,
  { outcome, status, operation }: { outcome: Outcome; status?: number | undefined; operation?: ApolloContext['operation'] },
): EngineReply {
  const bytes = Buffer.from(JSON.stringify(result));
  return {
    outcome,
    status,
    operationKind: operation?.operation,
    operationName: operation?.name?.value,
    bytes,
    length: bytes.length,
    release: undefined,
  };
}

function hashOf(sdl: string): string {
  return createHash('sha256').update(sdl).digest('hex').slice(0, 16);
}

function createSource(upstreams: Upstreams, { name, url }: { name: string; url: string }): GraphQLDataSource {
  const upstream = upstreams.open(name, url);
  return {
    process: ({ request: { query, operationName, variables }, context }) =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ query, operationName, variables });
        const isMutation = query?.startsWith('mutation') ?? false;
        upstream.send({ body, isMutation, context: context as EngineContext }, (failure, answer) => {
          if (failure)
            reject(
              new GraphQLError(failure.message, {
                originalError: failure.cause as Error,
                extensions: { code: failure.code, service: name },
              }),
            );
          else resolve(answer as GraphQLResponse);
        });
      }),
  };
}

/** What a valid document does not tell: subscriptions are in the schema, and Apollo's gateway can't run them; variables come beside it. */
const createRefusals = (limits: Limits): ApolloServerPlugin<ApolloContext> => ({
  requestDidStart: () =>
    Promise.resolve({
      didResolveOperation: ({ schema, document, operation, request, contextValue }) => {
        contextValue.operation = operation;
        try {
          if (operation?.operation === OperationTypeNode.MUTATION && contextValue.isReadOnly)
            throw fail('METHOD_NOT_ALLOWED', 'Send mutations by POST');
          if (operation?.operation === OperationTypeNode.SUBSCRIPTION)
            throw fail('NOT_IMPLEMENTED', 'This engine has no subscriptions: GATEWAY_ENGINE=trestle has');
          limitVariables(request.variables ?? {}, limits, () => undefined);
        } catch (fault) {
          throw toGraphQLError(fault as Fault, operation);
        }
        if (operation) limitSelections(operation, { schema, document, limits });
        return Promise.resolve();
      },
    }),
});

/** Throws VALIDATION_ERROR for what the planner would have to look at too many selections of, as the engine `trestle` does before it plans. */
function limitSelections(
  operation: OperationDefinitionNode,
  { schema, document, limits }: { schema: GraphQLSchema; document: DocumentNode; limits: Limits },
): void {
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  try {
    expandOperation({ schema, operation, fragments, maxSelections: limits.maxSelections });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const extensions = { ...error.extensions, http: { status: ERRORS.VALIDATION_ERROR.status } };
    throw new GraphQLError(error.message, { nodes: error.nodes ?? [], extensions });
  }
}

/** Its places are the declarations of the variables that the fault names. */
function toGraphQLError(fault: Fault, operation: OperationDefinitionNode | undefined): GraphQLError {
  const { code, message, details = [] } = fault;
  const nodes = (operation?.variableDefinitions ?? []).filter(({ variable }) =>
    details.some(({ field }) => field === `variables.${variable.name.value}`),
  );
  const extensions = { code, ...(details.length > 0 && { details }), http: { status: ERRORS[code].status } };
  return new GraphQLError(message, { ...(nodes.length > 0 && { nodes }), originalError: fault, extensions });
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
