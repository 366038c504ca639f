/** Compares the engine with graphql-js: the same operations on random subgraphs, and on one schema with the same data. */
import { DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { createBufferPool } from '#gateway/execute/buffer-pool';
import { ArenaPool } from '#gateway/execute/bytes/arena';
import { createBytesExecutor } from '#gateway/execute/bytes/bytes-executor';
import type { Executor } from '#gateway/execute/executor';
import { UNRESOLVABLE } from '#gateway/plan/selections/cover';
import { type FuzzEngine, startTrestle } from '../engines.ts';
import { SPOILERS, STYLES, type Spoiler } from '../executors/spoil.ts';
import type { FuzzOperation } from '../operations.ts';
import { createRandom, hash } from '../random.ts';
import { chooseAliases } from '../aliases.ts';
import { repeatFields } from '../repeated-fields.ts';
import { shrink } from '../shrink.ts';
import { generateContextualWorld } from './contexts.ts';
import { createReference, createWorldSubgraphs } from './data.ts';
import { generateConditionalOperation } from './operation.ts';
import { type World, generateWorld } from './world.ts';

/** Federation's, and contexts. */
const FEATURES = new Set([...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, 'https://specs.apollo.dev/context/v0.1']);
const MAX_RESPONSE_BYTES = 1e8;
/** These also change values of custom scalars, which may be objects. */
const CHANGES_SCALARS = new Set(['another order', 'another member']);

export interface DifferentialOptions {
  readonly seed: number;
  readonly operations: number;
  /** Operations for each world. */
  readonly perWorld: number;
  readonly maxFailures: number;
  /** Whether subgraphs have contextual arguments, and nothing else that is random. */
  readonly hasContexts?: boolean;
  /** Whether operations select fields again under other names. */
  readonly repeatsFields?: boolean;
  /** Whether operations have aliases that could be taken for other fields. */
  readonly choosesAliases?: boolean;
}

export interface DifferentialReport {
  readonly operations: number;
  readonly worlds: number;
  /** Operations whose result has errors. */
  readonly withErrors: number;
  /** Operations with fetches of entities at several paths. */
  readonly batched: number;
  /** Operations that select contextual arguments and are refused: docs/gateway/contexts.md says why. They are not compared. */
  readonly refused: number;
  readonly failures: readonly DifferentialFailure[];
}

export interface DifferentialFailure {
  readonly seed: number;
  readonly world: World;
  readonly operation: FuzzOperation;
  readonly difference: string;
}

/** Runs random operations until there are enough of them, or of failures. */
export async function compareWithReference(options: DifferentialOptions): Promise<DifferentialReport> {
  const { seed, operations, perWorld, maxFailures, hasContexts = false, repeatsFields = false, choosesAliases = false } = options;
  const failures: DifferentialFailure[] = [];
  let done = 0;
  let worlds = 0;
  let withErrors = 0;
  let refused = 0;
  let batched = 0;
  for (let next = seed; done < operations && failures.length < maxFailures; next++) {
    const random = createRandom(next);
    const world = hasContexts ? generateContextualWorld(random) : generateWorld(random);
    if (!world) continue;
    worlds++;
    const sides = start(world);
    for (let i = 0, tries = 0; i < perWorld && tries < perWorld * 5 && done < operations; tries++) {
      const generated = generateConditionalOperation(sides.schema, random);
      if (!generated) continue;
      const repeated = repeatsFields ? repeatFields(generated, sides.schema, random) : generated;
      const operation = choosesAliases ? chooseAliases(repeated, sides.schema, random) : repeated;
      i++;
      done++;
      const verdict = await compare(sides, operation);
      if (verdict.hasErrors) withErrors++;
      if (verdict.isRefused) refused++;
      if (verdict.isBatched) batched++;
      if (verdict.difference === undefined) continue;
      const isDifferent = async (candidate: FuzzOperation) => (await compare(sides, candidate)).difference !== undefined;
      const small = await shrink(operation, { schema: sides.schema, isDifferent });
      failures.push({ seed: next, world, operation: small, difference: (await compare(sides, small)).difference ?? '' });
      break;
    }
  }
  return { operations: done, worlds, withErrors, batched, refused, failures };
}

/** Returns how the two results of one operation differ; undefined when they do not. */
export async function compareOne(world: World, operation: FuzzOperation): Promise<string | undefined> {
  return (await compare(start(world), operation)).difference;
}

interface Sides {
  readonly schema: GraphQLSchema;
  readonly hasContexts: boolean;
  /** The engine by its executor. That on bytes gets responses of another style. */
  readonly engines: Readonly<Record<'objects' | 'bytes', FuzzEngine>>;
  readonly reference: (operation: FuzzOperation) => Promise<ExecutionResult>;
}

function start(world: World): Sides {
  const schema = Supergraph.build(world.sdl, { validateSupergraph: false, supportedFeatures: FEATURES }).apiSchema().toGraphQLJSSchema();
  const subgraphs = createWorldSubgraphs(world);
  const styles = SPOILERS.filter(({ name }) => STYLES.has(name) && !CHANGES_SCALARS.has(name));
  const spoiler = styles[Math.floor(hash(world.sdl) * styles.length)] as Spoiler;
  const engines = {
    objects: startTrestle(world.sdl, subgraphs),
    bytes: startTrestle(world.sdl, subgraphs, { executor: startBytes(), spoiler }),
  };
  return { schema, hasContexts: world.facts.contextual !== undefined, engines, reference: createReference(schema, world.facts) };
}

function startBytes(): Executor {
  const arenas = new ArenaPool({ isOverwriting: true });
  return createBytesExecutor({ buffers: createBufferPool(MAX_RESPONSE_BYTES), arenas, count: () => undefined });
}

interface Verdict {
  readonly difference: string | undefined;
  readonly hasErrors: boolean;
  readonly isRefused?: boolean;
  readonly isBatched?: boolean;
}

async function compare({ engines, reference, hasContexts }: Sides, operation: FuzzOperation): Promise<Verdict> {
  const expected = await reference(operation);
  const data = expected.data ?? null;
  const paths = pathsOf(
    (expected.errors ?? []).map(({ path }) => path),
    data,
  );
  const hasErrors = paths.length > 0;
  const wanted = `${JSON.stringify(data)}\n           errors ${paths.join(' ') || 'none'}`;
  let isBatched = false;
  for (const [name, engine] of Object.entries(engines)) {
    const answer = await engine.run(operation).then(
      (own) => {
        isBatched ||= own.isBatched === true;
        return `${JSON.stringify(own.data)}\n           errors ${pathsOf(own.paths, own.data).join(' ') || 'none'}`;
      },
      (error: unknown) =>
        !(error instanceof Error) ? String(error) : error.message === UNRESOLVABLE ? UNRESOLVABLE : (error.stack ?? error.message),
    );
    if (hasContexts && answer === UNRESOLVABLE) return { hasErrors, isRefused: true, difference: undefined };
    if (answer !== wanted) return { hasErrors, difference: `graphql-js: ${wanted}\n${name.padEnd(10)}: ${answer}` };
  }
  return { hasErrors, isBatched, difference: undefined };
}

/**
 * Returns the paths of errors, each up to the first null in the data. Of several errors below one null a response may contain any (GraphQL §6.4.4), so
 * the rest of the path is not compared.
 */
export function pathsOf(paths: readonly (readonly (string | number)[] | undefined)[], data: unknown): string[] {
  const cut = paths.map((path) => {
    if (!path) return '(no path)';
    let value = data;
    for (const [i, segment] of path.entries()) {
      if (value === null || value === undefined) return path.slice(0, i).join('.') || '(all)';
      value = (value as Record<string, unknown>)[segment];
    }
    return value === null ? path.join('.') : `${path.join('.')} (not null)`;
  });
  return [...new Set(cut)].sort();
}

/** Returns a failure as text, with all that is needed to reproduce it. */
export function writeDifference({ seed, world, operation, difference }: DifferentialFailure): string {
  const sdls = world.subgraphs.map(({ name, sdl }) => `# ${name}\n${sdl.split('\n').slice(1).join('\n')}`).join('\n');
  return `seed ${seed}\n${sdls}\n\n${operation.query}\n${JSON.stringify(operation.variables)}\n${difference}`;
}
