/**
 * Repairs what Apollo's planner does with a fragment on a type that only some subgraphs have behind a union or interface. The planner drops the
 * fragment when any subgraph that could resolve the field around it lacks the type, even when it then asks another subgraph, which has the type.
 */
import { type CompositeType, possibleRuntimeTypes } from '@apollo/federation-internals';
import type { Edge, OpGraphPath, QueryGraph, Vertex } from '@apollo/query-graphs';
import graphPaths from '@apollo/query-graphs/dist/graphPath.js';

type Advance = typeof graphPaths.advanceSimultaneousPathsWithOperation;
type Overrides = Parameters<Advance>[3];

let isPatched = false;
/** Undefined while nothing is planned with the repair; `hasActed` is whether the planner would have made another plan. */
let active: { hasActed: boolean } | undefined;

/**
 * Returns what `plan` returns. While `plan` runs, one subgraph decides which types a field may give: the one that is reached with the fewest fetches,
 * and among these the one that has the most types. Calls `plan` again without the repair when it throws because of it.
 */
export function withTypeConditions<T>(plan: () => T): T {
  patchPlanner();
  const own = { hasActed: false };
  active = own;
  try {
    return plan();
  } catch (error) {
    active = undefined;
    if (!own.hasActed) throw error;
    return plan();
  } finally {
    active = undefined;
  }
}

/**
 * Wraps the function that extends a path of the planner by a field or fragment. It returns an empty list for a fragment that cannot apply, and the
 * planner then drops the fragment. It returns undefined for a path that cannot be used, and the planner goes on with the other paths.
 */
function patchPlanner(): void {
  if (isPatched) return;
  isPatched = true;
  const target: { advanceSimultaneousPathsWithOperation: Advance } = graphPaths;
  const advance = target.advanceSimultaneousPathsWithOperation;
  target.advanceSimultaneousPathsWithOperation = (...given) => {
    const [, option, operation, overrides] = given;
    const next = advance(...given);
    if (!active || next?.length !== 0 || operation.kind !== 'FragmentElement') return next;
    if (!option.paths.every((path) => hasBetter(path, overrides))) return next;
    active.hasActed = true;
    return undefined;
  };
}

/** Whether the planner has a better path to the same objects: one with fewer fetches, or as many and more types. */
function hasBetter(path: OpGraphPath, overrides: Overrides): boolean {
  const { graph, tail } = path;
  const edges = path.mapMainPath((edge) => edge).filter((edge) => edge !== null);
  const isShorter = edges.some(
    (edge, i) => isKey(edge) && follow(edges.slice(i + 1), { graph, start: edge.head, overrides }) !== undefined,
  );
  if (isShorter) return true;
  const last = edges.findLastIndex((edge) => isKey(edge) || edge.transition.kind === 'SubgraphEnteringTransition');
  const entering = edges[last];
  if (!entering) return false;
  return graph.outEdges(entering.head).some((edge) => {
    if (edge === entering || edge.transition.kind !== entering.transition.kind || edge.tail.type.name !== entering.tail.type.name)
      return false;
    const end = follow(edges.slice(last + 1), { graph, start: edge.tail, overrides });
    return end !== undefined && isPreferred(end, tail);
  });
}

function isKey(edge: Edge): boolean {
  return edge.transition.kind === 'KeyResolution' && edge.changesSubgraph();
}

/** A total order, so that one of several subgraphs is preferred to all others. */
function isPreferred(one: Vertex, other: Vertex): boolean {
  const difference = countTypes(one) - countTypes(other);
  return difference > 0 || (difference === 0 && one.source < other.source);
}

function countTypes({ type }: Vertex): number {
  return possibleRuntimeTypes(type as CompositeType).length;
}

/** Returns where the same fields and type conditions lead from another start within its subgraph; undefined when the subgraph lacks one of them. */
function follow(
  edges: readonly Edge[],
  { graph, start, overrides }: { graph: QueryGraph; start: Vertex; overrides: Overrides },
): Vertex | undefined {
  let vertex: Vertex | undefined = start;
  for (const { transition } of edges) {
    if (!transition.collectOperationElements) continue;
    vertex =
      vertex &&
      graph.outEdges(vertex).find((edge) => !edge.conditions && isSame(edge, transition) && edge.satisfiesOverrideConditions(overrides))
        ?.tail;
  }
  return vertex;
}

function isSame(edge: Edge, transition: Edge['transition']): boolean {
  const own = edge.transition;
  if (own.kind === 'FieldCollection' && transition.kind === 'FieldCollection') return own.definition.name === transition.definition.name;
  return own.kind === 'DownCast' && transition.kind === 'DownCast' && own.castedType.name === transition.castedType.name;
}
