/** Composes subgraphs, and finds what a check reports. CPU-bound: runs in the thread of composition. No I/O. */
import { createHash } from 'node:crypto';
import { listChanges } from '@trestle/graph-checks/changes';
import { compareCosts } from '@trestle/graph-checks/compare-costs';
import { composeGraph } from '@trestle/graph-checks/compose';
import { type CostSchemas, toCostSchemas } from '@trestle/graph-checks/estimate-cost';
import type { GraphFault } from '@trestle/graph-checks/faults';
import { lintSdl } from '@trestle/graph-checks/lint';
import { decideChanges } from '@trestle/graph-checks/usage';
import { compose } from '@trestle/schema/compose';
import { type GraphQLSchema, buildSchema, parse, validate } from 'graphql';
import type { BrokenOperation, CompositionProblem, Operation, SchemaChange, SubgraphSchema } from '../records.ts';
import type { Comparison, ComposeOutcome, ComposeTask } from './compose-task.ts';
import { type FoundCosts, toFoundCosts } from './cost-findings.ts';
import { toDecision } from './decision.ts';

/** What is kept of the findings: a broken schema may have thousands. */
const MAX_PROBLEMS = 100;
const MAX_CHANGES = 1000;
const MAX_BROKEN = 100;
const MAX_MESSAGES = 5;

/** Composes the subgraphs of a task. Does not throw for schemas that are invalid or conflict. */
export async function composeSubgraphs({ subgraphs, compareWith }: ComposeTask): Promise<ComposeOutcome> {
  const composition = composeGraph(subgraphs, { secondOpinion: compareWith !== undefined });
  const disagreements = composition.disagreements.map(({ message }) => message).slice(0, MAX_PROBLEMS);
  const found = { disagreements, hints: toProblems(composition.hints), lint: compareWith ? lint(subgraphs, compareWith) : [] };
  if (!composition.ok) return { ok: false, ...found, problems: listProblems(subgraphs) };
  const { supergraphSdl, apiSdl } = composition;
  if (!compareWith) return { ok: true, ...found, supergraphSdl, apiSdl, changes: [], brokenOperations: [], costs: null };
  const api = buildSchema(apiSdl, { assumeValidSDL: true });
  const changes = await compareSchemas(compareWith, api);
  const brokenOperations = findBroken(api, compareWith.operations);
  const costs = findCosts(compareWith, toCostSchemas(api, supergraphSdl));
  return { ok: true, ...found, supergraphSdl, apiSdl, changes, brokenOperations, costs };
}

/** Returns why subgraphs do not compose, with all places of a conflict. */
function listProblems(subgraphs: readonly SubgraphSchema[]): CompositionProblem[] {
  const composition = compose(subgraphs.map(({ name, url, sdl }) => ({ name, url, sdl, file: name })));
  if (composition.ok) throw new Error('The composer gave two answers');
  return composition.problems.slice(0, MAX_PROBLEMS).map(({ code, message, places }) => {
    // The composer may name a place several times.
    const unique = new Map(
      places.map(({ file, line, column }) => [`${file}:${String(line)}:${String(column)}`, { subgraph: file, line, column }]),
    );
    return { code, message, places: [...unique.values()] };
  });
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

/** What a schema is compared with: the schema that clients see now, and what they sent. */
type ComparedWith = Pick<Comparison, 'apiSdl'> & Partial<Pick<Comparison, 'usage' | 'policy'>>;

/** Returns the changes between two public schemas. Those of a contract have ids of their own, so that they are approved by themselves. */
export async function compareSchemas(
  { apiSdl, usage, policy }: ComparedWith,
  after: GraphQLSchema,
  contract?: string,
): Promise<SchemaChange[]> {
  if (apiSdl === undefined) return [];
  const schema = buildSchema(apiSdl, { assumeValidSDL: true });
  const changes = (await listChanges(schema, after)).slice(0, MAX_CHANGES);
  return decideChanges({ schema, changes, usage, ...(policy && { policy }) }).map(
    ({ type: kind, level, coordinate, message, ...decided }) => {
      const id = createHash('sha256')
        .update(JSON.stringify([level, kind, coordinate, message, ...(contract === undefined ? [] : [contract])]))
        .digest('hex')
        .slice(0, 32);
      return { id, level: LEVELS[level], kind, coordinate, message, decision: toDecision(decided) };
    },
  );
}

const LEVELS = { breaking: 'BREAKING', dangerous: 'DANGEROUS', safe: 'SAFE' } as const;

function findBroken(api: GraphQLSchema, operations: readonly Operation[]): BrokenOperation[] {
  const broken: BrokenOperation[] = [];
  for (const { hash, name, client, text } of operations) {
    const errors = validate(api, parse(text), undefined, { maxErrors: MAX_MESSAGES });
    if (errors.length > 0) broken.push({ hash, name, client, messages: errors.slice(0, MAX_MESSAGES).map(({ message }) => message) });
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
