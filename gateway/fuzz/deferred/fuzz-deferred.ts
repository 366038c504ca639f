/** Compares what all parts of a result merge to with the result of the same operation without `@defer`, over random supergraphs and operations. */
import { Supergraph } from '@apollo/federation-internals';
import { type GraphQLSchema, extendSchema, parse, visit, print } from 'graphql';
import { DeferredExecution } from '#gateway/execute/deferred/deferred-execution';
import { writeFirst, writePart } from '#gateway/execute/deferred/write-parts';
import { readVariables } from '#gateway/execute/variables';
import { DEFAULT_LIMITS } from '#gateway/limits/limits';
import { type Planner, createPlanner } from '#gateway/plan/planner';
import { link } from '#gateway/program/operation';
import type { RequestContext } from '#gateway/request/context';
import { chooseAliases } from '../aliases.ts';
import { type FuzzAnswer, type FuzzEngine, startTrestle } from '../engines.ts';
import { createSend } from '../executors/send.ts';
import type { FuzzOperation } from '../operations.ts';
import { type Random, createRandom, hash } from '../random.ts';
import { createWorldSubgraphs } from '../reference/data.ts';
import { pathsOf } from '../reference/differential.ts';
import { generateConditionalOperation } from '../reference/operation.ts';
import { type World, generateWorld } from '../reference/world.ts';
import { shrink, withoutUnused } from '../shrink.ts';
import type { Subgraphs } from '../subgraphs.ts';
import { addDefer } from './add-defer.ts';
import { type Merged, type Part, findDifference, mergeParts } from './merge-parts.ts';

export interface DeferredReport {
  readonly operations: number;
  /** Operations that were delivered in several parts. */
  readonly inParts: number;
  /** Operations with a fragment that has no data. */
  readonly withFailures: number;
  readonly failures: readonly string[];
}

export interface DeferredOptions {
  readonly seed: number;
  readonly operations: number;
  /** Operations for each world. */
  readonly perWorld: number;
  readonly maxFailures: number;
}

/** Runs random operations until there are enough of them, or of failures. */
export async function fuzzDeferred({ seed, operations, perWorld, maxFailures }: DeferredOptions): Promise<DeferredReport> {
  const failures: string[] = [];
  const counts = { operations: 0, inParts: 0, withFailures: 0 };
  for (let next = seed; counts.operations < operations && failures.length < maxFailures; next++) {
    const random = createRandom(next);
    const world = generateWorld(random);
    if (!world) continue;
    const sides = start(world, random);
    for (let i = 0; i < perWorld && counts.operations < operations; i++) {
      const generated = generateConditionalOperation(sides.schema, random);
      if (!generated) continue;
      // Drawn apart, so that the other choices of a seed do not depend on it.
      const drawn = hash(generated.query);
      const chosen = drawn < 0.5 ? chooseAliases(generated, sides.schema, createRandom(Math.floor(drawn * 1e9))) : generated;
      const operation = addDefer(chosen, random);
      counts.operations++;
      const verdict = await compare(sides, operation);
      if (verdict.parts > 1) counts.inParts++;
      if (verdict.hasFailed) counts.withFailures++;
      if (verdict.difference === undefined) continue;
      const isDifferent = async (candidate: FuzzOperation) => (await compare(sides, candidate)).difference !== undefined;
      const small = await shrink(operation, { schema: sides.schema, isDifferent });
      failures.push(writeFailure(next, world, { ...small, difference: (await compare(sides, small)).difference ?? '' }));
      break;
    }
  }
  return { ...counts, failures };
}

interface Sides {
  /** With `@defer`. */
  readonly schema: GraphQLSchema;
  readonly planner: Planner;
  readonly whole: FuzzEngine;
  readonly subgraphs: Subgraphs;
}

const DEFER = parse('directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT');

/** Subgraphs answer in a random order. */
function start(world: World, random: Random): Sides {
  const schema = extendSchema(Supergraph.build(world.sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema(), DEFER);
  const immediate = createWorldSubgraphs(world);
  const subgraphs: Subgraphs = async (...request) => {
    for (let turns = random.upTo(4); turns > 0; turns--) await new Promise(setImmediate);
    return immediate(...request);
  };
  const limits = { ...DEFAULT_LIMITS, maxDepth: 100, maxRootFields: 100, maxAliases: 1000, maxDeferred: 20 };
  return { schema, planner: createPlanner(world.sdl, limits), whole: startTrestle(world.sdl, immediate), subgraphs };
}

interface Verdict {
  readonly difference: string | undefined;
  readonly parts: number;
  readonly hasFailed: boolean;
}

async function compare(sides: Sides, operation: FuzzOperation): Promise<Verdict> {
  try {
    const parts = await run(sides, operation);
    if (!parts) return { difference: undefined, parts: 1, hasFailed: false };
    const merged = mergeParts(parts);
    const whole = await sides.whole.run({ ...operation, query: withoutDefer(operation.query) });
    const found = findDifference(merged, whole.data) ?? findErrorDifference(merged, whole);
    const difference = found === undefined ? undefined : `${found}\n${parts.map((each) => JSON.stringify(each)).join('\n')}`;
    return { difference, parts: parts.length, hasFailed: merged.failed.length > 0 };
  } catch (error) {
    return { difference: error instanceof Error ? (error.stack ?? error.message) : String(error), parts: 0, hasFailed: false };
  }
}

/** Compares the places of errors where every fragment has data: the null of one that has none is in another place. */
function findErrorDifference({ data, errors, failed }: Merged, whole: FuzzAnswer): string | undefined {
  if (failed.length > 0) return undefined;
  const own = pathsOf(
    errors.map(({ path }) => path),
    data,
  ).join(' ');
  const expected = pathsOf(whole.paths, whole.data).join(' ');
  return own === expected ? undefined : `errors at ${own}, and not at ${expected}`;
}

function withoutDefer(query: string): string {
  return print(withoutUnused(visit(parse(query), { Directive: ({ name }) => (name.value === 'defer' ? null : undefined) })));
}

/** Returns all responses; undefined for an operation that is executed as a whole. */
function run({ planner, subgraphs }: Sides, { query, variables }: FuzzOperation): Promise<Part[] | undefined> {
  const prepared = planner.prepare({ query, operationName: undefined, labels: [], isIncremental: true });
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  const operation = link(prepared.program);
  const { deferred } = operation;
  const program = operation.program.deferred;
  if (!deferred || !program) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const send = createSend({ subgraphs, spoiler: { name: 'nothing' }, reject });
    const conditions = readVariables(prepared.program.variables, variables);
    const request = { operation: { ...operation, deferred }, variables, conditions, context: {} as RequestContext, send };
    const execution = new DeferredExecution({ program, request, buffer: Buffer.alloc(64), maxBytes: 1e8 });
    const options = { format: (errors: readonly object[]) => errors as never, spec: 'current' } as const;
    const parts: Part[] = [];
    execution.first(({ data, errors }, pending) => {
      if (pending.length === 0) {
        resolve([{ data: JSON.parse(data) as unknown, errors: errors as Part['errors'] & object }]);
        return;
      }
      parts.push(JSON.parse(writeFirst({ data, errors }, pending, options).toString()) as Part);
      execution.rest((part) => {
        parts.push(JSON.parse(writePart(part, options).toString()) as Part);
        if (!part.hasNext) resolve(parts);
      });
    });
  });
}

function writeFailure(
  seed: number,
  { subgraphs }: World,
  { query, variables, difference }: FuzzOperation & { difference: string },
): string {
  const sdls = subgraphs.map(({ name, sdl }) => `# ${name}\n${sdl.split('\n').slice(1).join('\n')}`).join('\n');
  return `seed ${String(seed)}\n${sdls}\n\n${query}\n${JSON.stringify(variables)}\n${difference}`;
}
