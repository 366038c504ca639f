/** Composes subgraphs, and compares the result with what clients see now. CPU-bound: runs in the thread of composition. No I/O. */
import { createHash } from 'node:crypto';
import { type CompositionProblem as FileProblem, compose } from '@trestle/schema/compose';
import { type GraphQLSchema, buildSchema, findBreakingChanges, findDangerousChanges, parse, validate } from 'graphql';
import type { BrokenOperation, CompositionProblem, Operation, SchemaChange } from '../records.ts';
import type { ComposeOutcome, ComposeTask } from './compose-task.ts';

/** What is kept of the findings: a broken schema may have thousands. */
const MAX_PROBLEMS = 100;
const MAX_CHANGES = 1000;
const MAX_BROKEN = 100;
const MAX_MESSAGES = 5;

/** Composes the subgraphs of a task. Does not throw for schemas that are invalid or conflict. */
export function composeSubgraphs({ subgraphs, compareWith }: ComposeTask): ComposeOutcome {
  const composition = compose(subgraphs.map(({ name, url, sdl }) => ({ name, url, sdl, file: name })));
  if (!composition.ok) return { ok: false, problems: composition.problems.slice(0, MAX_PROBLEMS).map(toProblem) };
  const { supergraphSdl, apiSdl } = composition;
  const hints = composition.hints.slice(0, MAX_PROBLEMS).map(toProblem);
  if (!compareWith) return { ok: true, supergraphSdl, apiSdl, hints, changes: [], brokenOperations: [] };
  const api = buildSchema(apiSdl);
  const changes = compareWith.apiSdl === undefined ? [] : compare(buildSchema(compareWith.apiSdl), api);
  return { ok: true, supergraphSdl, apiSdl, hints, changes, brokenOperations: findBroken(api, compareWith.operations) };
}

function toProblem({ code, message, places }: FileProblem): CompositionProblem {
  // The composer may name a place several times.
  const unique = new Map(
    places.map(({ file, line, column }) => [`${file}:${String(line)}:${String(column)}`, { subgraph: file, line, column }]),
  );
  return { code, message, places: [...unique.values()] };
}

function compare(before: GraphQLSchema, after: GraphQLSchema): SchemaChange[] {
  // What is new to clients in one direction is what is removed in the other.
  const additions = findBreakingChanges(after, before).filter(({ type, description }) => type in ADDITIONS && !isStandard(description));
  return [
    ...findBreakingChanges(before, after)
      .filter(({ description }) => !isStandard(description))
      .map(({ type, description }) => toChange('BREAKING', type, description)),
    ...findDangerousChanges(before, after).map(({ type, description }) => toChange('DANGEROUS', type, description)),
    ...additions.map(({ type, description }) =>
      toChange('SAFE', ADDITIONS[type] ?? type, description.replace(/ was removed\.?$/, ' was added.')),
    ),
  ].slice(0, MAX_CHANGES);
}

/** graphql-js reports the scalars of the specification as removed when nothing refers to them. */
function isStandard(description: string): boolean {
  return description.startsWith('Standard scalar ');
}

/** The removals whose reverse is an addition that no client notices. */
const ADDITIONS: Readonly<Record<string, string>> = { TYPE_REMOVED: 'TYPE_ADDED', FIELD_REMOVED: 'FIELD_ADDED' };

function toChange(level: SchemaChange['level'], kind: string, message: string): SchemaChange {
  const id = createHash('sha256')
    .update(JSON.stringify([level, kind, message]))
    .digest('hex')
    .slice(0, 32);
  return { id, level, kind, message };
}

function findBroken(api: GraphQLSchema, operations: readonly Operation[]): BrokenOperation[] {
  const broken: BrokenOperation[] = [];
  for (const { hash, name, client, text } of operations) {
    const errors = validate(api, parse(text), undefined, { maxErrors: MAX_MESSAGES });
    if (errors.length > 0) broken.push({ hash, name, client, messages: errors.slice(0, MAX_MESSAGES).map(({ message }) => message) });
    if (broken.length >= MAX_BROKEN) break;
  }
  return broken;
}
