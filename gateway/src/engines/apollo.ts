/** The engine `apollo`: @apollo/gateway in Apollo Server, with our own fetches from subgraphs. */
import { createHash } from 'node:crypto';
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import type { Log } from '@trestle/log';
import { ERRORS, type Fault, fail, toFault } from '@trestle/schema/errors';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
} from 'graphql';
import type { AccessOf } from '../access/callers.ts';
import { type SubgraphErrors, formatError } from '../errors/format-error.ts';
import { formatFault } from '../errors/format-fault.ts';
import { limitOperations } from '../limits/limit-operations.ts';
import { type Limits, limitVariables } from '../limits/limits.ts';
import { type AccessRules, readAccessRules } from '../plan/access-directives.ts';
import { expandOperation } from '../plan/expand-operation.ts';
import { patchVariableCollector } from '../plan/patch-variables.ts';
import type { RequestContext } from '../request/context.ts';
import type { OperationRequest, OperationResult, Outcome } from '../request/operation.ts';
import { findFiles } from '../request/upload.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { type FilteredDocument, createAccessFilter } from './apollo-access.ts';
import { addDenials } from './apollo-denials.ts';
import { createErrorPlugin } from './apollo-errors.ts';
import type { Engine } from './engine.ts';

/** The context of Apollo Server, which its hooks share. */
interface ApolloContext extends RequestContext {
  readonly isReadOnly: boolean;
  operation: OperationDefinitionNode | undefined;
}

type GraphQLResponse = Awaited<ReturnType<GraphQLDataSource['process']>>;

export interface ApolloEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  readonly log: Log;
  /** What clients see of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
  /** Returns the rights of a caller, for `@authenticated`, `@requiresScopes` and `@policy`. */
  readonly accessOf: AccessOf;
}

/** Rejects for an invalid supergraph. `APOLLO_TELEMETRY_DISABLED` must be set before: otherwise the library reports to its vendor. */
export async function createApolloEngine(options: ApolloEngineOptions): Promise<Engine> {
  const { supergraphSdl, upstreams, limits, log, accessOf } = options;
  let hash = hashOf(supergraphSdl);
  const first = readAccess(supergraphSdl);
  let schema: GraphQLSchema | undefined;
  let update: (sdl: string) => void = () => undefined;
  const gateway = new ApolloGateway({
    supergraphSdl: ({ update: take }) => {
      update = take;
      return Promise.resolve({ supergraphSdl: first.sdl });
    },
    buildService: ({ name, url }) => createSource(upstreams, { name, url: url ?? '' }),
    logger: toApolloLog(log),
  });
  gateway.onSchemaLoadOrUpdate(({ apiSchema }) => {
    schema = apiSchema;
  });
  patchVariableCollector();
  const server = createServer(gateway, options);
  await server.start();
  const createFilter = (rules: AccessRules) => createAccessFilter(schema as GraphQLSchema, rules, limits);
  let access = createFilter(first.rules);
  return {
    execute(request, done) {
      const { requestId, quota, caller } = request.context;
      // This engine estimates no cost: every operation counts as one request.
      quota.take(1, (limitFault) => {
        if (limitFault) {
          const { status } = ERRORS[limitFault.code];
          done(toResult({ errors: [formatFault(limitFault, requestId)] }, { outcome: 'refused', status }));
          return;
        }
        executeFiltered(server, request, access.filter(request, accessOf(caller))).then(done, (error: unknown) => {
          log.error('request failed', { requestId, error });
          done(toResult({ errors: [formatFault(toFault(error), requestId)] }, { outcome: 'failed' }));
        });
      });
    },
    swap: (sdl) =>
      new Promise((resolve) => {
        const next = readAccess(sdl);
        update(next.sdl);
        access = createFilter(next.rules);
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

function createServer(gateway: ApolloGateway, { limits, log, subgraphErrors }: ApolloEngineOptions): ApolloServer<ApolloContext> {
  return new ApolloServer<ApolloContext>({
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
}

/** Returns the supergraph without the features that @apollo/gateway refuses, and the rules that it has by them. */
function readAccess(supergraphSdl: string): { sdl: string; rules: AccessRules } {
  const { document, rules } = readAccessRules(parse(supergraphSdl, { noLocation: true }));
  return { sdl: rules.size === 0 ? supergraphSdl : print(document), rules };
}

/** Executes a document without the fields that the caller may not read, and adds their nulls and errors to the result. */
async function executeFiltered(
  server: ApolloServer<ApolloContext>,
  request: OperationRequest,
  filtered: FilteredDocument | undefined,
): Promise<OperationResult> {
  if (!filtered) return executeOperation(server, request);
  return addDenials(await executeOperation(server, { ...request, query: filtered.query }), filtered, request);
}

async function executeOperation(server: ApolloServer<ApolloContext>, request: OperationRequest): Promise<OperationResult> {
  const { query, operationName, variables, context } = request;
  const contextValue: ApolloContext = { ...context, isReadOnly: request.isReadOnly, operation: undefined };
  const { body, http } = await server.executeOperation(
    { query, ...(operationName !== undefined && { operationName }), variables },
    { contextValue },
  );
  // Only @defer results in chunks, and a gateway's schema does not have it.
  const result = body.kind === 'single' ? body.singleResult : { errors: [] };
  const isRefused = !('data' in result);
  const outcome = isRefused ? 'refused' : result.data === null ? 'failed' : result.errors?.length ? 'partial' : 'complete';
  const errors = result.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId: context.requestId } }));
  const status = http.status === undefined || http.status === 400 || http.status === 200 ? undefined : http.status;
  return toResult(
    { ...result, ...(errors && { errors }) },
    { outcome, status, challenge: http.headers.get('www-authenticate'), operation: contextValue.operation },
  );
}

interface ResultFacts {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly challenge?: string | undefined;
  readonly operation?: ApolloContext['operation'];
}

function toResult(result: object, { outcome, status, challenge, operation }: ResultFacts): OperationResult {
  const bytes = Buffer.from(JSON.stringify(result));
  return {
    outcome,
    status,
    challenge,
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
        const ofClient = context as RequestContext;
        const files = ofClient.upload && isMutation && variables ? findFiles(variables, Object.keys(variables)) : undefined;
        upstream.send({ body, isMutation, context: ofClient, files }, (failure, fetched) => {
          if (failure)
            reject(
              new GraphQLError(failure.message, {
                originalError: failure.cause as Error,
                extensions: { code: failure.code, service: name },
              }),
            );
          else resolve(fetched as GraphQLResponse);
        });
      }),
  };
}

/** Refuses what validation of the document does not: mutations by GET, subscriptions, which @apollo/gateway cannot execute, and nested variables. */
const createRefusals = (limits: Limits): ApolloServerPlugin<ApolloContext> => ({
  requestDidStart: () =>
    Promise.resolve({
      didResolveOperation: ({ schema, document, operation, request, contextValue }) => {
        contextValue.operation = operation;
        try {
          if (operation?.operation === OperationTypeNode.MUTATION && contextValue.isReadOnly)
            throw fail('METHOD_NOT_ALLOWED', 'Mutations must be sent by POST.');
          if (operation?.operation === OperationTypeNode.SUBSCRIPTION)
            throw fail('NOT_IMPLEMENTED', 'The engine `apollo` does not support subscriptions. Use GATEWAY_ENGINE=trestle.');
          limitVariables(request.variables ?? {}, limits, () => undefined);
        } catch (fault) {
          throw toGraphQLError(fault as Fault, operation);
        }
        if (operation) limitSelections(operation, { schema, document, limits });
        return Promise.resolve();
      },
    }),
});

/** Throws VALIDATION_ERROR for an operation with too many selections, as the engine `trestle` does before planning. */
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

/** The locations of the error are the definitions of the variables that the fault names. */
function toGraphQLError(fault: Fault, operation: OperationDefinitionNode | undefined): GraphQLError {
  const { code, message, details = [] } = fault;
  const nodes = (operation?.variableDefinitions ?? []).filter(({ variable }) =>
    details.some(({ field }) => field === `variables.${variable.name.value}`),
  );
  const extensions = { code, ...(details.length > 0 && { details }), http: { status: ERRORS[code].status } };
  return new GraphQLError(message, { ...(nodes.length > 0 && { nodes }), originalError: fault, extensions });
}

/** Writes the warnings and errors of the library to our log. */
function toApolloLog(log: Log) {
  const quiet = () => undefined;
  return {
    debug: quiet,
    info: quiet,
    warn: (message?: unknown) => {
      log.warn('warning of the engine apollo', { error: new Error(String(message)) });
    },
    error: (message?: unknown) => {
      log.error('error of the engine apollo', { error: message instanceof Error ? message : new Error(String(message)) });
    },
  };
}
