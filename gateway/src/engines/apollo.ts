/** The engine `apollo`: @apollo/gateway in Apollo Server, with our own fetches from subgraphs. */
import { createHash } from 'node:crypto';
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import type { Log } from '@trestle/log';
import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, print } from 'graphql';
import type { Registry } from 'prom-client';
import type { AccessOf } from '../access/callers.ts';
import { refuseDenied, toDenialErrors } from '../access/denial.ts';
import { type SubgraphErrors, formatError, isServerError } from '../errors/format-error.ts';
import { type Limits, toUnits } from '../limits/limits.ts';
import { createCostMetrics } from '../observability/cost-metrics.ts';
import { createExcessReport } from '../observability/excess-report.ts';
import { createUnprotectedReport } from '../observability/unprotected-report.ts';
import { type AccessRules, readAccessRules } from '../plan/supergraph/access-directives.ts';
import { patchRebasing } from '../plan/supergraph/patch-rebasing.ts';
import { patchVariableCollector } from '../plan/supergraph/patch-variables.ts';
import type { RequestContext } from '../request/context.ts';
import type { OperationRequest, OperationResult, Outcome } from '../request/operation.ts';
import { findFiles } from '../request/upload.ts';
import { readDelivered } from '../launches/delivered.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { type AccessFilter, type FilteredDocument, createAccessFilter } from './apollo-access.ts';
import { type CheckOperation, type CheckedOperation, createOperationChecks, toRefusal } from './apollo-checks.ts';
import { addDenials } from './apollo-denials.ts';
import { createErrorPlugin } from './apollo-errors.ts';
import type { Engine } from './engine.ts';

type GraphQLResponse = Awaited<ReturnType<GraphQLDataSource['process']>>;

export interface ApolloEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Registry;
  /** What clients see of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
  /** Returns the rights of a caller, for `@authenticated`, `@requiresScopes` and `@policy`. */
  readonly accessOf: AccessOf;
}

/** Rejects for an invalid supergraph. `APOLLO_TELEMETRY_DISABLED` must be set before: otherwise the library reports to its vendor. */
export async function createApolloEngine(options: ApolloEngineOptions): Promise<Engine> {
  const { supergraphSdl, upstreams, limits, log } = options;
  let delivered = readDelivered(supergraphSdl);
  let hash = hashOf(delivered.sdl);
  const first = readAccess(delivered.sdl);
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
  patchRebasing();
  patchVariableCollector();
  const server = createServer(gateway, options);
  await server.start();
  const costs = createCostMetrics(options.metrics);
  const reportExcess = createExcessReport(options.metrics, log);
  const createStages = ({ rules, document }: ReadAccess): Stages => ({
    access: createAccessFilter(schema as GraphQLSchema, rules, limits),
    check: createOperationChecks({ schema: schema as GraphQLSchema, document, rules, limits, costs, reportExcess }),
  });
  let stages = createStages(first);
  return {
    execute: createExecute(server, { ...options, stages: () => stages }),
    swap: (sdl) =>
      new Promise((resolve) => {
        const given = readDelivered(sdl);
        const next = readAccess(given.sdl);
        update(next.sdl);
        stages = createStages(next);
        delivered = given;
        hash = hashOf(given.sdl);
        resolve();
      }),
    get hash() {
      return hash;
    },
    get served() {
      return [{ role: 'current' as const, hash, launch: delivered.launch }];
    },
    stop: async () => {
      await server.stop();
      await upstreams.close();
    },
  };
}

/** The checks that operations of one supergraph pass before Apollo Server executes them. */
interface Stages {
  readonly access: AccessFilter;
  readonly check: CheckOperation;
}

/** Checks operations, counts their cost, and executes them. */
function createExecute(
  server: ApolloServer<RequestContext>,
  {
    stages,
    log,
    limits,
    metrics,
    accessOf,
  }: Pick<ApolloEngineOptions, 'log' | 'limits' | 'metrics' | 'accessOf'> & { readonly stages: () => Stages },
): Engine['execute'] {
  const reportUnprotected = createUnprotectedReport(metrics, log);
  const refuse = (error: unknown, { requestId, done, outcome = 'refused' }: Ended) => {
    const { errors, ...facts } = toRefusal(error, requestId);
    if (errors.some(isServerError)) log.error('request failed', { requestId, error });
    done(toResult({ errors }, { outcome, ...facts }));
  };
  return (request, done) => {
    const { requestId, quota, caller } = request.context;
    const { access, check } = stages();
    let checked: CheckedOperation;
    let filtered: FilteredDocument | undefined;
    try {
      checked = check(request);
      filtered = access.filter(request, accessOf(caller));
      if (filtered && limits.deniedFields === 'refuse') refuseDenied(filtered.denials, checked.conditions, caller);
      if (filtered && limits.deniedFields === 'unprotected') {
        reportUnprotected(toDenialErrors(filtered.denials, checked.conditions, caller), { name: checked.name, requestId });
        filtered = undefined;
      }
    } catch (error) {
      refuse(error, { requestId, done });
      return;
    }
    quota.take(toUnits(checked.cost), (fault) => {
      try {
        if (fault) throw fault;
        executeFiltered(server, { request, checked }, filtered).then(done, (error: unknown) => {
          refuse(error, { requestId, done, outcome: 'failed' });
        });
      } catch (error) {
        refuse(error, { requestId, done });
      }
    });
  };
}

function createServer(gateway: ApolloGateway, { log, subgraphErrors }: ApolloEngineOptions): ApolloServer<RequestContext> {
  return new ApolloServer<RequestContext>({
    gateway,
    formatError: (formatted, error) => formatError(formatted, error, subgraphErrors),
    plugins: [createErrorPlugin(log), ApolloServerPluginInlineTraceDisabled(), ApolloServerPluginUsageReportingDisabled()],
    introspection: true,
    logger: toApolloLog(log),
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
  });
}

/** A supergraph without the features that @apollo/gateway refuses, and the rules that these features define. */
interface ReadAccess {
  readonly sdl: string;
  readonly document: DocumentNode;
  readonly rules: AccessRules;
}

function readAccess(supergraphSdl: string): ReadAccess {
  const { document, rules } = readAccessRules(parse(supergraphSdl, { noLocation: true }));
  return { sdl: rules.size === 0 ? supergraphSdl : print(document), document, rules };
}

/** A request and what is known of its operation. */
interface Checked {
  readonly request: OperationRequest;
  readonly checked: CheckedOperation;
}

/** Executes a document without the fields that the caller may not read, and adds their nulls and errors to the result. */
async function executeFiltered(
  server: ApolloServer<RequestContext>,
  { request, checked }: Checked,
  filtered: FilteredDocument | undefined,
): Promise<OperationResult> {
  if (!filtered) return executeOperation(server, { request, checked });
  const result = await executeOperation(server, { request: { ...request, query: filtered.query }, checked });
  return addDenials(result, filtered, request);
}

async function executeOperation(server: ApolloServer<RequestContext>, { request, checked }: Checked): Promise<OperationResult> {
  const { query, operationName, variables, context, reports } = request;
  const { body, http } = await server.executeOperation(
    { query, ...(operationName !== undefined && { operationName }), variables },
    { contextValue: context },
  );
  // Only @defer results in chunks, and a gateway's schema does not have it.
  const result = body.kind === 'single' ? body.singleResult : { errors: [] };
  const isRefused = !('data' in result);
  const outcome = isRefused ? 'refused' : result.data === null ? 'failed' : result.errors?.length ? 'partial' : 'complete';
  const errors = result.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId: context.requestId } }));
  const status = http.status === undefined || http.status === 400 || http.status === 200 ? undefined : http.status;
  return toResult(
    { ...result, ...(errors && { errors }), ...(reports.cost && { extensions: { cost: { estimated: checked.cost } } }) },
    { outcome, status, challenge: http.headers.get('www-authenticate'), operation: checked },
  );
}

/** How an operation ends without a result. */
interface Ended {
  readonly requestId: string;
  readonly done: (result: OperationResult) => void;
  readonly outcome?: Outcome;
}

interface ResultFacts {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly challenge?: string | undefined;
  readonly operation?: CheckedOperation;
}

function toResult(result: object, { outcome, status, challenge, operation }: ResultFacts): OperationResult {
  const bytes = Buffer.from(JSON.stringify(result));
  return {
    outcome,
    status,
    challenge,
    operationKind: operation?.kind,
    operationName: operation?.name,
    caching: operation?.caching,
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
