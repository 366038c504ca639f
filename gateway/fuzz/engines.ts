/** Runs one operation on both engines over the same subgraphs. */
import { createHash } from 'node:crypto';
import type { ApolloGateway as Gateway } from '@apollo/gateway';
import { GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { type Executor, OBJECT_EXECUTOR } from '#gateway/execute/executor';
import { readVariables } from '#gateway/execute/variables';
import { DEFAULT_LIMITS } from '#gateway/limits/limits';
import { createPlanner } from '#gateway/plan/planner';
import { type Operation, link } from '#gateway/program/operation';
import type { ResultError } from '#gateway/program/result';
import type { RequestContext } from '#gateway/request/context';
import { isBatched } from './batched.ts';
import { createSend } from './executors/send.ts';
import type { Spoiler } from './executors/spoil.ts';
import type { FuzzOperation } from './operations.ts';
import type { Subgraphs } from './subgraphs.ts';

/** The parts of a response that both engines write in the same way; errors as path and code. */
export interface FuzzAnswer {
  readonly data: unknown;
  readonly errors: readonly string[];
  readonly paths: readonly (readonly (string | number)[] | undefined)[];
  /** Whether a fetch was for entities at several paths. */
  readonly isBatched?: boolean;
}

export interface FuzzEngine {
  run(operation: FuzzOperation): Promise<FuzzAnswer>;
  stop(): Promise<void>;
}

/** Describes an error. The stock gateway adds a code of its own where the subgraph gave none. */
const describeError = (path: readonly (string | number)[] | undefined, code: unknown) =>
  `${(path ?? []).join('.')} ${typeof code === 'string' ? code : 'DOWNSTREAM_SERVICE_ERROR'}`;

export async function startApollo(sdl: string, subgraphs: Subgraphs): Promise<FuzzEngine & { readonly schema: GraphQLSchema }> {
  const { ApolloGateway } = await import('@apollo/gateway');
  const quiet = () => undefined;
  const gateway: Gateway = new ApolloGateway({
    supergraphSdl: sdl,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    buildService: ({ name }) => ({
      process: ({ request }) =>
        subgraphs(name, { query: request.query ?? '', variables: request.variables ?? {}, operationName: request.operationName }),
    }),
  });
  const { schema, executor } = await gateway.load();
  return {
    schema,
    async run({ query, variables }) {
      const queryHash = createHash('sha256').update(query).digest('hex');
      const context = {
        request: { query, variables },
        document: parse(query),
        queryHash,
        context: {},
        metrics: {},
        source: query,
        schema,
        logger: console,
        cache: new Map(),
        operationName: 'Op',
        overallCachePolicy: {},
      };
      const answer = await executor(context as unknown as Parameters<typeof executor>[0]);
      const errors = (answer.errors ?? []).map(({ path, extensions }) =>
        describeError(path, (extensions as { code?: unknown } | undefined)?.code),
      );
      const paths = (answer.errors ?? []).map(({ path }) => path);
      return { data: JSON.parse(JSON.stringify(answer.data ?? null)), errors: [...new Set(errors)].sort(), paths };
    },
    stop: () => gateway.stop(),
  };
}

export interface TrestleOptions {
  /** Default: the one with objects. */
  readonly executor?: Executor;
  /** Default: none. */
  readonly spoiler?: Spoiler;
  /** Default: equal fetches of entities become one. */
  readonly batchesEntities?: boolean;
}

export function startTrestle(
  sdl: string,
  subgraphs: Subgraphs,
  { executor = OBJECT_EXECUTOR, spoiler = { name: 'nothing' }, batchesEntities = true }: TrestleOptions = {},
): FuzzEngine {
  const limits = { ...DEFAULT_LIMITS, maxDepth: 100, maxRootFields: 100, maxAliases: 1000 };
  const planner = createPlanner(sdl, limits, { batchesEntities });
  return {
    run: ({ query, variables }) =>
      new Promise((resolve, reject) => {
        const prepared = planner.prepare({ query, operationName: undefined, labels: [] });
        if (!('program' in prepared)) {
          reject(
            new GraphQLError(
              'errors' in prepared ? prepared.errors.map(({ message }) => message).join('; ') : 'The document has protected fields',
            ),
          );
          return;
        }
        const operation = link(prepared.program);
        const conditions = readVariables(prepared.program.variables, variables);
        const send = createSend({ subgraphs, spoiler, reject });
        const request = { operation, variables, conditions, context: {} as RequestContext, send, needsObjects: false, needsCost: false };
        executor.execute(request, (result) => {
          try {
            resolve({ ...toAnswer(result, operation, conditions), isBatched: isBatched(prepared.program.plan) });
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      }),
    stop: () => Promise.resolve(),
  };
}

type Result = Parameters<Parameters<Executor['execute']>[1]>[0];

/** Reads a result; one with objects is written as the engine writes it. */
function toAnswer(result: Result, { compiled }: Operation, conditions: Readonly<Record<string, unknown>>): FuzzAnswer {
  if ('assembled' in result) {
    const { bytes, length } = result.assembled;
    const { data } = JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: unknown };
    return { data, ...describeErrors(result.errors) };
  }
  const { data, errors } = result;
  const request = { conditions, introspection: {}, buffer: Buffer.alloc(2048), maxBytes: 1e9, faults: [], noteMissing: errors.noteMissing };
  const { bytes, length } = (errors.hasFailures ? null : compiled.write(data, request)) ?? compiled.explain(data, request);
  const answer = JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: unknown };
  return { data: answer.data, ...describeErrors(errors.finish(request.faults)) };
}

function describeErrors(errors: readonly ResultError[]): Pick<FuzzAnswer, 'errors' | 'paths'> {
  const described = errors.map(({ path, extensions }) => describeError(path, extensions['code']));
  return { errors: [...new Set(described)].sort(), paths: errors.map(({ path }) => path) };
}
