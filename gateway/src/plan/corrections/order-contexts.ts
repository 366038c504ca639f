/**
 * Orders the steps of a plan so that a fetch with contextual arguments runs after the fetches of their values. Apollo's planner runs both at the same
 * time when another fetch has brought the entities already.
 */
import { Kind, type SelectionSetNode, parse } from 'graphql';
import { listFetches } from '../../program/list-fetches.ts';
import type { FetchStep, PlanStep } from '../../program/program.ts';
import { UNRESOLVABLE, Uncovered } from '../selections/cover.ts';

/**
 * Returns the plan in an order that works. `source` is the fetch that a subscription begins with. Throws Uncovered for a plan without such an order, and
 * for one in which no fetch has the value of an argument.
 */
export function orderContexts(plan: PlanStep | undefined, source: FetchStep | undefined): PlanStep | undefined {
  if (!plan) return plan;
  const provided = new Set([...(source ? providedBy(source) : []), ...providedBy(plan)]);
  for (const path of neededBy(plan))
    if (!provided.has(path)) throw new Uncovered(UNRESOLVABLE, { cause: `No fetch has the context ${path}` });
  return order(plan);
}

function order(step: PlanStep): PlanStep {
  switch (step.kind) {
    case 'fetch':
      return step;
    case 'graph':
      throw new Error('A plan with contextual arguments must not be a graph');
    case 'condition':
      return { ...step, then: step.then && order(step.then), otherwise: step.otherwise && order(step.otherwise) };
    case 'sequence': {
      const steps = step.steps.map(order);
      steps.forEach((each, i) => {
        if (steps.slice(i + 1).some((later) => waitsFor(each, later)))
          throw new Uncovered(UNRESOLVABLE, { cause: 'A context is fetched too late' });
      });
      return { kind: 'sequence', steps };
    }
    case 'parallel':
      return orderParallel(step.steps.map(order));
  }
}

/** Returns a sequence of parallel steps, each with all that the steps before it allow. */
function orderParallel(steps: readonly PlanStep[]): PlanStep {
  const layers: PlanStep[] = [];
  let left = steps;
  while (left.length > 0) {
    const ready = left.filter((each) => !left.some((other) => other !== each && waitsFor(each, other)));
    if (ready.length === 0) throw new Uncovered(UNRESOLVABLE, { cause: 'Fetches need contexts of each other' });
    layers.push(ready.length === 1 ? (ready[0] as PlanStep) : { kind: 'parallel', steps: ready });
    left = left.filter((each) => !ready.includes(each));
  }
  return layers.length === 1 ? (layers[0] as PlanStep) : { kind: 'sequence', steps: layers };
}

function waitsFor(step: PlanStep, other: PlanStep): boolean {
  const needed = neededBy(step);
  if (needed.length === 0) return false;
  const provided = new Set(providedBy(other));
  return needed.some((path) => provided.has(path));
}

/** Returns the paths of the values that contextual arguments get, response keys without elements of lists. */
function neededBy(step: PlanStep): string[] {
  return listFetches(step).flatMap(({ contexts, path }) => {
    const keys = path.filter((key) => key !== '@');
    return (contexts?.variables ?? []).flatMap(({ sources }) =>
      sources.map((each) =>
        [...keys.slice(0, keys.length - each.up), ...each.path.flatMap((segment) => ('key' in segment ? [segment.key] : []))].join('.'),
      ),
    );
  });
}

/** Returns the paths of the leaves that fetches bring. */
function providedBy(step: PlanStep): string[] {
  return listFetches(step).flatMap(({ operation, entities, path, rewrites }) => {
    const renamed = new Map(
      rewrites.flatMap(({ path: from, to }) => {
        const last = from.at(-1);
        return last && 'key' in last ? [[last.key, to] as const] : [];
      }),
    );
    const collect = ({ selections }: SelectionSetNode, at: readonly string[]): string[] =>
      selections.flatMap((selection): string[] => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
        if (selection.kind === Kind.INLINE_FRAGMENT) return collect(selection.selectionSet, at);
        if (entities && selection.name.value === '_entities' && selection.selectionSet) return collect(selection.selectionSet, at);
        const key = selection.alias?.value ?? selection.name.value;
        const own = [...at, renamed.get(key) ?? key];
        return selection.selectionSet ? collect(selection.selectionSet, own) : [own.join('.')];
      });
    const keys = path.filter((key) => key !== '@');
    return parse(operation, { noLocation: true }).definitions.flatMap((each) =>
      each.kind === Kind.OPERATION_DEFINITION ? collect(each.selectionSet, keys) : [],
    );
  });
}
