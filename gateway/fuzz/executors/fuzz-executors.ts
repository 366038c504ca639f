/** Runs operations by both executors over the same subgraphs, whose responses may be spoiled, and compares the results. */
import { Supergraph } from '@apollo/federation-internals';
import { type BufferPool, createBufferPool } from '#gateway/execute/buffer-pool';
import { ArenaPool } from '#gateway/execute/bytes/arena';
import { createBytesExecutor } from '#gateway/execute/bytes/bytes-executor';
import type { Executed } from '#gateway/execute/execute';
import { type Assembled, type Executor, OBJECT_EXECUTOR } from '#gateway/execute/executor';
import { readVariables } from '#gateway/execute/variables';
import { DEFAULT_LIMITS } from '#gateway/limits/limits';
import { createPlanner } from '#gateway/plan/planner';
import { type Operation, link } from '#gateway/program/operation';
import type { ResultError } from '#gateway/program/result';
import type { RequestContext } from '#gateway/request/context';
import { chooseAliases } from '../aliases.ts';
import { isBatched } from '../batched.ts';
import { type FuzzOperation, generateOperation } from '../operations.ts';
import { createRandom } from '../random.ts';
import { repeatFields } from '../repeated-fields.ts';
import { CALM, type Subgraphs, createSubgraphs } from '../subgraphs.ts';
import { generateSupergraph } from '../supergraph.ts';
import { createSend } from './send.ts';
import { SPOILERS, type Spoiler } from './spoil.ts';

export interface ExecutorReport {
  readonly operations: number;
  readonly supergraphs: number;
  /** Operations with fetches of entities at several paths. */
  readonly batched: number;
  /** How executions ended. */
  readonly paths: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

export interface ExecutorFuzzOptions {
  readonly seed: number;
  readonly operations: number;
  readonly perSupergraph: number;
  readonly maxFailures: number;
  /** Whether operations select fields again under other names. */
  readonly repeatsFields?: boolean;
  /** Whether operations have aliases that could be taken for other fields. */
  readonly choosesAliases?: boolean;
}

/** Runs random operations until there are enough of them, or of failures. */
export async function fuzzExecutors(options: ExecutorFuzzOptions): Promise<ExecutorReport> {
  const { seed, operations, perSupergraph, maxFailures, repeatsFields = false, choosesAliases = false } = options;
  const paths = new Map<string, number>();
  const failures: string[] = [];
  let done = 0;
  let batched = 0;
  let supergraphs = 0;
  const note = (path: string) => paths.set(path, (paths.get(path) ?? 0) + 1);
  for (let next = seed; done < operations && failures.length < maxFailures; next++) {
    const random = createRandom(next);
    const supergraph = generateSupergraph(random);
    if (!supergraph) continue;
    supergraphs++;
    const schema = Supergraph.build(supergraph.sdl).apiSchema().toGraphQLJSSchema();
    const sides = start(supergraph.sdl, note);
    const subgraphs = [createSubgraphs(supergraph, CALM), createSubgraphs(supergraph)] as const;
    for (let i = 0, tries = 0; i < perSupergraph && tries < perSupergraph * 5 && failures.length < maxFailures; tries++) {
      const generated = generateOperation(schema, random);
      const repeated = generated && repeatsFields ? repeatFields(generated, schema, random) : generated;
      const operation = repeated && choosesAliases ? chooseAliases(repeated, schema, random) : repeated;
      const prepared = operation && sides.prepare(operation.query);
      if (!operation || !prepared) continue;
      i++;
      done++;
      if (isBatched(prepared.program.plan)) batched++;
      const spoiler = random.chance(0.5) ? SPOILERS[0] : random.pick(SPOILERS);
      const isCalm = random.chance(0.7);
      const run = { operation, prepared, spoiler: spoiler as Spoiler, subgraphs: isCalm ? subgraphs[0] : subgraphs[1], isCalm };
      const [objects, bytes] = [await sides.objects(run), await sides.bytes(run)];
      if (objects !== bytes)
        failures.push(
          `seed ${next}, ${run.spoiler.name}\n${operation.query}\n${JSON.stringify(operation.variables)}\nobjects: ${objects}\nbytes:   ${bytes}`,
        );
    }
    if (paths.delete('fault')) failures.push(`seed ${next}: an exception on bytes`);
    if (sides.usedBytes() > 0) failures.push(`seed ${next}: arenas of ${sides.usedBytes()} bytes were not released`);
  }
  return { operations: done, batched, supergraphs, paths, failures };
}

interface Run {
  readonly operation: FuzzOperation;
  readonly prepared: Operation;
  readonly spoiler: Spoiler;
  readonly subgraphs: Subgraphs;
  /** Whether subgraphs report no errors. Which errors they report beside a null may depend on the order of fields (GraphQL §6.4.4). */
  readonly isCalm: boolean;
}

function start(sdl: string, note: (path: string) => void) {
  const limits = { ...DEFAULT_LIMITS, maxDepth: 100, maxRootFields: 100, maxAliases: 1000 };
  const planner = createPlanner(sdl, limits);
  const buffers = createBufferPool(limits.maxResponseBytes);
  const arenas = new ArenaPool({ isOverwriting: true });
  const executor = createBytesExecutor({
    buffers,
    arenas,
    count: (_, path) => {
      note(path);
    },
  });
  return {
    prepare(query: string) {
      const prepared = planner.prepare({ query, operationName: undefined, labels: [] });
      return 'program' in prepared ? link(prepared.program) : undefined;
    },
    objects: (run: Run) => runOnce(OBJECT_EXECUTOR, run, buffers),
    bytes: (run: Run) => runOnce(executor, run, buffers),
    usedBytes: () => arenas.counts.used,
  };
}

/** Returns the result as a string, for comparison: the data in their order, the errors by path and code, the actual cost. */
function runOnce(executor: Executor, { operation, prepared, spoiler, subgraphs, isCalm }: Run, buffers: BufferPool): Promise<string> {
  const { variables } = operation;
  const conditions = readVariables(prepared.program.variables, variables);
  return new Promise((resolve, reject) => {
    const send = createSend({ subgraphs, spoiler, reject });
    executor.execute(
      { operation: prepared, variables, conditions, context: {} as RequestContext, send, needsObjects: false, needsCost: true },
      (result) => {
        try {
          const { data, errors, cost } = 'assembled' in result ? readAssembled(result) : write(result, buffers);
          const found = errors.map(({ path, message, extensions }) => JSON.stringify([path, message, extensions]));
          resolve(JSON.stringify([data, isCalm ? [...new Set(found)].sort() : found.slice(0, 1).map(() => 'errors'), cost]));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
    );
  });
}

interface Result {
  readonly data: unknown;
  readonly errors: readonly ResultError[];
  readonly cost: number | undefined;
}

function readAssembled({ assembled: { bytes, length }, errors, cost }: Assembled): Result {
  const text = `${bytes.toString('utf8', 0, length)}}`;
  bytes.fill(0xfe);
  return { ...(JSON.parse(text) as { data: unknown }), errors, cost };
}

function write({ operation: { compiled }, conditions, data, errors }: Executed, buffers: BufferPool): Result {
  const cost = compiled.actualCost(data, conditions);
  const buffer = buffers.take();
  const request = { conditions, introspection: {}, buffer, maxBytes: 1e9, faults: [], noteMissing: errors.noteMissing };
  const { bytes, length } = (errors.hasFailures ? null : compiled.write(data, request)) ?? compiled.explain(data, request);
  const answer = JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: unknown };
  return { data: answer.data, errors: errors.finish(request.faults), cost };
}
