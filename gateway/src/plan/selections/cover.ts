/** Checks that a plan fetches every root field that an operation selects and its caller may read. */
import type { FieldNode, GraphQLObjectType } from 'graphql';
import type { PlanStep } from '../../program/program.ts';
import type { GuardedSet, Selections } from './selection.ts';

/** Thrown for an operation that no plan can resolve; its cause names the field. */
export class Uncovered extends Error {}

export const UNRESOLVABLE = 'The subgraphs cannot resolve every field of the operation.';

/** Throws Uncovered for a root field that the plan does not fetch. The planner silently leaves out what no subgraph can resolve, which would be null. */
export function requireCover({
  root,
  selections,
  sets,
  denied,
  steps,
}: {
  root: GraphQLObjectType;
  selections: Selections;
  sets: readonly GuardedSet[];
  denied: ReadonlySet<FieldNode>;
  steps: readonly PlanStep[];
}): void {
  const covered = new Set<string>();
  const visit = (step: PlanStep) => {
    if (step.kind === 'fetch') {
      if (step.path.length === 0) for (const key of step.keys) covered.add(key);
    } else if (step.kind === 'condition') {
      for (const each of [step.then, step.otherwise]) if (each) visit(each);
    } else step.steps.forEach(visit);
  };
  steps.forEach(visit);
  for (const { key, name, nodes } of selections.collect(root, sets))
    if (!name.startsWith('__') && !covered.has(key) && !nodes.every((node) => denied.has(node)))
      throw new Uncovered(UNRESOLVABLE, { cause: `${root.name}.${name}` });
}
