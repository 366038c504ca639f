/** Composes subgraphs, and finds what a check reports. CPU-bound: runs in the thread of composition. No I/O. */
import { compareCosts } from '@trestle/graph-checks/compare-costs';
import { composeGraph } from '@trestle/graph-checks/compose';
import { type CostSchemas, toCostSchemas } from '@trestle/graph-checks/estimate-cost';
import type { GraphFault } from '@trestle/graph-checks/faults';
import { lintSdl } from '@trestle/graph-checks/lint';
import { type Composition, compose } from '@trestle/schema/compose';
import { type GraphQLSchema, buildSchema } from 'graphql';
import type { CompositionProblem, InvalidOperation, Operation, SubgraphSchema } from '../records.ts';
import { compareSchemas } from './compare-schemas.ts';
import type { Comparison, ComposeOutcome, ComposeTask } from './compose-task.ts';
import { type FoundCosts, toFoundCosts } from './cost-findings.ts';
import { findInvalid } from './invalid-operations.ts';

/** What is kept of the findings: a broken schema may have thousands. */
const MAX_PROBLEMS = 100;
const MAX_BROKEN = 100;

/** Composes the subgraphs of a task. Does not throw for schemas that are invalid or conflict. */
export async function composeSubgraphs({ subgraphs, compareWith }: ComposeTask): Promise<ComposeOutcome> {
  const composition = composeGraph(subgraphs, { secondOpinion: compareWith !== undefined });
  const disagreements = composition.disagreements.map(({ message }) => message).slice(0, MAX_PROBLEMS);
  const found = { disagreements, hints: toProblems(composition.hints), lint: compareWith ? lint(subgraphs, compareWith) : [] };
  if (!composition.ok) return { ok: false, ...found, problems: listProblems(subgraphs, composition.errors) };
  const { supergraphSdl, apiSdl } = composition;
  if (!compareWith) return { ok: true, ...found, supergraphSdl, apiSdl, ...NOT_COMPARED };
  const api = buildSchema(apiSdl, { assumeValidSDL: true });
  const compared = await compareSchemas(compareWith, { api, supergraphSdl });
  const brokenOperations = findBroken(api, compareWith);
  const costs = findCosts(compareWith, toCostSchemas(api, supergraphSdl));
  return { ok: true, ...found, supergraphSdl, apiSdl, ...compared, brokenOperations, costs };
}

const NOT_COMPARED = { changes: [], unlisted: [], brokenOperations: [], costs: null };

/** Returns why subgraphs do not compose, with all places of a conflict; `errors` are what is known where the composer throws for an invalid schema. */
function listProblems(subgraphs: readonly SubgraphSchema[], errors: readonly GraphFault[]): CompositionProblem[] {
  const composition = tryCompose(subgraphs);
  if (composition?.ok !== false) return toProblems(errors);
  return composition.problems.slice(0, MAX_PROBLEMS).map(({ code, message, places }) => {
    // The composer may name a place several times.
    const unique = new Map(
      places.map(({ file, line, column }) => [`${file}:${String(line)}:${String(column)}`, { subgraph: file, line, column }]),
    );
    return { code, message, places: [...unique.values()] };
  });
}

function tryCompose(subgraphs: readonly SubgraphSchema[]): Composition | undefined {
  try {
    return compose(subgraphs.map(({ name, url, sdl }) => ({ name, url, sdl, file: name })));
  } catch {
    return undefined;
  }
}

function lint(subgraphs: readonly SubgraphSchema[], { changed }: Comparison): CompositionProblem[] {
  return toProblems(subgraphs.filter(({ name }) => changed.includes(name)).flatMap(({ name, sdl }) => lintSdl(name, sdl)));
}

function toProblems(faults: readonly GraphFault[]): CompositionProblem[] {
  return faults.slice(0, MAX_PROBLEMS).map(({ code, message, subgraph, line, column }) => {
    const places = subgraph !== null && line !== null && column !== null ? [{ subgraph, line, column }] : [];
    return { code, message, places };
  });
}

/** Returns the operations that the change makes invalid. One that is invalid now cannot be broken, and is no fault of the change. */
function findBroken(api: GraphQLSchema, { apiSdl, operations }: Comparison): InvalidOperation[] {
  let current: GraphQLSchema | undefined;
  const isValidNow = (operation: Operation) => {
    if (apiSdl === undefined) return true;
    current ??= buildSchema(apiSdl, { assumeValidSDL: true });
    return findInvalid(current, operation) === undefined;
  };
  const broken: InvalidOperation[] = [];
  for (const operation of operations) {
    const invalid = findInvalid(api, operation);
    if (!invalid || !isValidNow(operation)) continue;
    broken.push(invalid);
    if (broken.length >= MAX_BROKEN) break;
  }
  return broken;
}

function findCosts({ apiSdl, supergraphSdl, operations, usage, policy }: Comparison, after: CostSchemas): FoundCosts | null {
  if (apiSdl === undefined || supergraphSdl === undefined) return null;
  if (operations.length === 0 && !usage) return toFoundCosts({ grown: [], compared: 0 }, policy.maxCost);
  const before = toCostSchemas(apiSdl, supergraphSdl);
  return toFoundCosts(compareCosts({ before, after, registered: operations, usage, policy }), policy.maxCost);
}
