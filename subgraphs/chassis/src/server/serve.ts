/** What every subgraph server is: migrate, serve the schema behind the caller's own token, stop in order. */
import type { IncomingMessage } from 'node:http';
import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { ApolloServerPluginInlineTraceDisabled, ApolloServerPluginUsageReportingDisabled } from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import { readBearerToken } from '@trestle/identity';
import { watchRevocations } from '@trestle/identity/revocation-watch';
import { type Revocations, createRevocations } from '@trestle/identity/revocations';
import { type TokenVerifier, createTokenVerifier } from '@trestle/identity/tokens';
import { type Log, type LogLevel, createLog } from '@trestle/log';
import { ERRORS, Fault } from '@trestle/schema/errors';
import { readSubgraphSdl } from '@trestle/schema/sdl';
import type { SubgraphName } from '@trestle/schema/subgraphs';
import { runProcess, startService } from '@trestle/service';
import { type Probes, createProbes } from '@trestle/service/probes';
import { type ServiceSettings, toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import express, { type Response } from 'express';
import { GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { applyArgumentChecks } from '../graphql/argument-checks.ts';
import { type AuthRules, applyAuth } from '../graphql/auth-directive.ts';
import type { RequestContext, RequestReport } from '../request/context.ts';
import { type Database, type DatabaseLimits, openDatabase } from '../database/database.ts';
import { createDocumentCache } from '../document-cache.ts';
import { applyEntities } from '../graphql/entities.ts';
import { createErrorPlugin, formatError } from '../graphql/errors.ts';
import { type Events, type Topics, createEvents } from '../events/events.ts';
import { readIdempotencyKey, replayPlugin } from '../stores/idempotency.ts';
import { createInHand } from './in-hand.ts';
import { createRequestReports } from './request-report.ts';
import { type MutationLimits, applyMutationLimits } from '../graphql/mutation-limits.ts';
import { DateTime } from '../graphql/scalars.ts';
import { createSocketOperations } from '../sockets/socket-operations.ts';
import { type SocketDoor, MAX_TOKENS, createSocketDoor } from '../sockets/socket.ts';
import { migrate } from '../database/migrate.ts';
import { applyUpper } from '../graphql/upper-directive.ts';

export interface Subgraph<Context extends RequestContext> {
  readonly resolvers: object;
  readonly authRules?: AuthRules;
  /** What can be listened to. */
  readonly topics?: Topics;
  /** Adds the subgraph's own stores and loaders to a request's context. */
  readonly createContext: (request: RequestContext) => Context;
  /** Begins what goes on beside requests, as soon as events can be listened to. */
  readonly begin?: (events: Events) => Sideline;
  /** Deletes what has expired; called again and again while the process runs. */
  readonly sweep?: () => Promise<void>;
  /** Ends what the subgraph itself opened. */
  readonly close?: () => Promise<void>;
}

/** What a subgraph does besides. */
export interface Sideline {
  /** WebSocket doors for other processes of ours, by path. */
  readonly doors: Readonly<Record<string, SocketDoor['upgrade']>>;
  /** Ends it, and what is open at its doors. */
  readonly stop: () => void;
}

/** What every subgraph is given to begin with. */
export interface Chassis {
  readonly database: Database;
  /** What is known of revoked tokens; whoever learns of one adds it. */
  readonly revocations: Revocations;
  readonly log: Log;
}

export interface SubgraphOptions<Context extends RequestContext> {
  readonly name: SubgraphName;
  readonly port: number;
  readonly databaseUrl: string;
  readonly settings: ServiceSettings & {
    readonly HOST: string;
    readonly LOG_LEVEL: LogLevel;
    readonly TOKEN_PUBLIC_KEY_FILE: string;
    readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
    readonly DATABASE_CONNECTIONS: number;
    readonly DATABASE_CONNECT_TIMEOUT_MS: number;
    readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
    readonly DATABASE_LOCK_TIMEOUT_MS: number;
    /** How long a mutation may take until it is committed; less than the gateway's `SUBGRAPH_TIMEOUT_MS`. */
    readonly MUTATION_TIMEOUT_MS: number;
    /** Where revoked tokens are told of; absent for the one that tells. */
    readonly REVOCATIONS_URL?: string | undefined;
  };
  readonly create: (chassis: Chassis) => Subgraph<Context>;
}

/** The gateway takes 1 MiB from a client, and adds to it what it has found so far: representations of entities. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** More mutations than this at a time are refused at once. */
const MAX_WAITING_MUTATIONS = 1000;
const SWEEP_INTERVAL_MS = 10 * 60 * 1000;

/** Runs a subgraph process from its `main.ts` until it is told to stop. */
export async function runSubgraph<Context extends RequestContext>(options: SubgraphOptions<Context>): Promise<void> {
  const { name, port, databaseUrl, settings, create } = options;
  const log = createLog({ service: name, level: settings.LOG_LEVEL });
  const start = async () => {
    const applied = await migrate(name, databaseUrl);
    if (applied.length > 0) log.info('migrated', { count: applied.length });

    const probes: Probes = createProbes({ isReady: () => database.isReachable() });
    const database = openDatabase({ url: databaseUrl, metrics: probes.metrics, ...toDatabaseLimits(settings) });
    const tracing = await createTracing({ service: name, endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT });
    const reports = createRequestReports({ metrics: probes.metrics, log, tracing });
    const revocations = createRevocations();
    const subgraph = create({ database, revocations, log });
    const schema = createSubgraphSchema(name, subgraph);
    applyMutationLimits(schema, toMutationLimits(settings));
    const server = new ApolloServer<RequestContext>({
      schema,
      formatError,
      documentStore: createDocumentCache(),
      parseOptions: { maxLexicalTokens: MAX_TOKENS },
      plugins: [
        reports.plugin,
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
    const verifier = createTokenVerifier({ publicKeyPem: settings.TOKEN_PUBLIC_KEY_FILE, revocations });
    const inHand = createInHand();
    const app = express()
      .disable('x-powered-by')
      .use(inHand.count)
      .use(reports.step)
      .use(
        '/graphql',
        express.json({ limit: MAX_REQUEST_BYTES }),
        expressMiddleware(server, {
          context: ({ req, res }) => Promise.resolve(subgraph.createContext(readRequest(req, { report: reportOf(res), verifier }))),
        }),
      );
    const events = createEvents({ url: databaseUrl, database, topics: subgraph.topics ?? {}, log });
    const sideline =
      subgraph.begin?.(events) ?? watchElsewhere({ url: settings.REVOCATIONS_URL, revocations, log, metrics: probes.metrics });
    const { createContext } = subgraph;
    const operations = createSocketOperations({ schema, server, createContext, events, log, metrics: probes.metrics });
    const sockets = createSocketDoor({ schema, operations, verifier, log });
    const upgrade: SocketDoor['upgrade'] = (request, socket, head) => {
      (sideline.doors[request.url ?? ''] ?? sockets.upgrade)(request, socket, head);
    };
    const service = await startService({ log, port, host: settings.HOST, probes, handle: app, upgrade, ...toServiceOptions(settings) });
    const sweeping = setInterval(() => {
      Promise.all([subgraph.sweep?.(), events.sweep()]).catch((error: unknown) => {
        log.error('sweep failed', { error });
      });
    }, SWEEP_INTERVAL_MS).unref();
    return async () => {
      clearInterval(sweeping);
      await service.announceStop();
      const stopped = service.stop();
      // What is done for a request in hand may need what goes on beside.
      await Promise.all([inHand.settle(), sockets.close()]);
      sideline.stop();
      await stopped;
      await events.close();
      await server.stop();
      await subgraph.close?.();
      await database.close();
      await tracing.stop();
    };
  };
  await runProcess(log, start, { delayMs: settings.DRAIN_DELAY_MS });
}

/** A subgraph that does not tell of revoked tokens is told of them. */
function watchElsewhere({ url, ...options }: Omit<Parameters<typeof watchRevocations>[0], 'url'> & { url: string | undefined }): Sideline {
  if (url !== undefined) return { doors: {}, stop: watchRevocations({ url, ...options }).stop };
  options.log.warn('REVOCATIONS_URL is not set: revoked tokens are taken until they end');
  return { doors: {}, stop: () => undefined };
}

type Settings = SubgraphOptions<RequestContext>['settings'];

function toDatabaseLimits(settings: Settings): DatabaseLimits {
  return {
    connections: settings.DATABASE_CONNECTIONS,
    connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: settings.DATABASE_LOCK_TIMEOUT_MS,
  };
}

/** Mutations have half of the connections. Their last statement begins early enough to end in their time. */
function toMutationLimits({ DATABASE_CONNECTIONS, DATABASE_STATEMENT_TIMEOUT_MS, MUTATION_TIMEOUT_MS }: Settings): MutationLimits {
  const startMs = Math.max(MUTATION_TIMEOUT_MS - DATABASE_STATEMENT_TIMEOUT_MS, MUTATION_TIMEOUT_MS / 10);
  return {
    atOnce: Math.floor(DATABASE_CONNECTIONS / 2),
    waiting: MAX_WAITING_MUTATIONS,
    allowed: { startMs, commitMs: MUTATION_TIMEOUT_MS },
  };
}

/** Builds the executable schema of a subgraph from its SDL file, with its directives, its references and the limits of arguments enforced. */
export function createSubgraphSchema<Context extends RequestContext>(
  name: SubgraphName,
  { resolvers, authRules }: Pick<Subgraph<Context>, 'resolvers' | 'authRules'>,
): GraphQLSchema {
  const schema = buildSubgraphSchema([{ typeDefs: parse(readSubgraphSdl(name)), resolvers: { DateTime, ...resolvers } }]);
  applyEntities(schema);
  applyArgumentChecks(schema);
  applyUpper(schema);
  applyAuth(schema, authRules);
  return schema;
}

/** A subgraph trusts nobody's word on who is calling: it verifies the caller's token itself (spec §5.3). */
function readRequest(
  request: IncomingMessage,
  { report, verifier }: { readonly report: RequestReport; readonly verifier: TokenVerifier },
): RequestContext {
  const { requestId } = report;
  try {
    const token = readBearerToken(request.rawHeaders);
    const caller = token === undefined ? null : verifier.verify(token);
    return { caller, requestId, denials: new Map(), idempotency: readIdempotencyKey(request.headers), report };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message } = error;
    throw new GraphQLError(message, { originalError: error, extensions: { code, requestId, http: { status: ERRORS[code].status } } });
  }
}

function reportOf({ locals }: Response): RequestReport {
  return locals['report'] as RequestReport;
}
