/** Compares the engine with graphql-js: the same operations on random subgraphs, and on one schema with the same data. */
import { Supergraph } from '@apollo/federation-internals';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { type FuzzEngine, startTrestle } from '../engines.ts';
import type { FuzzOperation } from '../operations.ts';
import { createRandom } from '../random.ts';
import { shrink } from '../shrink.ts';
import { createReference, createWorldSubgraphs } from './data.ts';
import { generateConditionalOperation } from './operation.ts';
import { type World, generateWorld } from './world.ts';

export interface DifferentialOptions {
  readonly seed: number;
  readonly operations: number;
  /** Operations for each world. */
  readonly perWorld: number;
  readonly maxFailures: number;
}

export interface DifferentialReport {
  readonly operations: number;
  readonly worlds: number;
  /** Operations whose result has errors. */
  readonly withErrors: number;
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
  const { seed, operations, perWorld, maxFailures } = options;
  const failures: DifferentialFailure[] = [];
  let done = 0;
  let worlds = 0;
  let withErrors = 0;
  for (let next = seed; done < operations && failures.length < maxFailures; next++) {
    const random = createRandom(next);
    const world = generateWorld(random);
    if (!world) continue;
    worlds++;
    const sides = start(world);
    for (let i = 0, tries = 0; i < perWorld && tries < perWorld * 5 && done < operations; tries++) {
      const operation = generateConditionalOperation(sides.schema, random);
      if (!operation) continue;
      i++;
      done++;
      const verdict = await compare(sides, operation);
      if (verdict.hasErrors) withErrors++;
      if (verdict.difference === undefined) continue;
      const isDifferent = async (candidate: FuzzOperation) => (await compare(sides, candidate)).difference !== undefined;
      const small = await shrink(operation, { schema: sides.schema, isDifferent });
      failures.push({ seed: next, world, operation: small, difference: (await compare(sides, small)).difference ?? '' });
      break;
    }
  }
  return { operations: done, worlds, withErrors, failures };
}

/** Returns how the two results of one operation differ; undefined when they do not. */
export async function compareOne(world: World, operation: FuzzOperation): Promise<string | undefined> {
  return (await compare(start(world), operation)).difference;
}

interface Sides {
  readonly schema: GraphQLSchema;
  readonly trestle: FuzzEngine;
  readonly reference: (operation: FuzzOperation) => Promise<ExecutionResult>;
}

function start(world: World): Sides {
  const schema = Supergraph.build(world.sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema();
  return { schema, trestle: startTrestle(world.sdl, createWorldSubgraphs(world)), reference: createReference(schema, world.facts) };
}

interface Verdict {
  readonly difference: string | undefined;
  readonly hasErrors: boolean;
}

async function compare({ trestle, reference }: Sides, operation: FuzzOperation): Promise<Verdict> {
  const expected = await reference(operation);
  const data = expected.data ?? null;
  const paths = pathsOf(
    (expected.errors ?? []).map(({ path }) => path),
    data,
  );
  const hasErrors = paths.length > 0;
  const wanted = `${JSON.stringify(data)}\n           errors ${paths.join(' ') || 'none'}`;
  const answer = await trestle.run(operation).then(
    (own) => `${JSON.stringify(own.data)}\n           errors ${pathsOf(own.paths, own.data).join(' ') || 'none'}`,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  return { hasErrors, difference: answer === wanted ? undefined : `graphql-js: ${wanted}\ntrestle:    ${answer}` };
}

/**
 * Returns the paths of errors, each up to the first null in the data. Of several errors below one null a response may contain any (GraphQL §6.4.4), so
 * the rest of the path is not compared.
 */
function pathsOf(paths: readonly (readonly (string | number)[] | undefined)[], data: unknown): string[] {
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
