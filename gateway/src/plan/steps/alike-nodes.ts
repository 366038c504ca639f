/** Nodes of a query plan that differ only in where their objects are, which become one step of a program. */
import type { PlanNode, SequenceNode } from '@apollo/query-planner';
import type { Place } from '../../program/program.ts';
import type { TypedFetch } from '../selections/typed-fetch.ts';

/** A sequence with the deferred parts whose fetches may begin when its nodes have ended. */
export interface Beginning extends SequenceNode {
  readonly begins: readonly number[];
}

/** A node of a plan, and the place of its objects in the result. */
export interface Located<T extends PlanNode = PlanNode> {
  readonly node: T;
  readonly place: Place;
}

/** Returns the children of nodes that are alike, grouped by their position. */
export function childrenOf(alike: readonly Located[]): Located[][] {
  const [first, ...others] = alike as readonly Located<Extract<PlanNode, { kind: 'Sequence' | 'Parallel' }>>[];
  if (!first) return [];
  return first.node.nodes.map((node, i) => [
    { node, place: first.place },
    ...others.map((other) => ({ node: other.node.nodes[i] as PlanNode, place: other.place })),
  ]);
}

/**
 * Groups nodes that differ only in the places of their objects. With `typeConditionedFetching` the planner makes a fetch for each type that an object
 * may have, even when all of these fetches are equal.
 */
export function joinAlike(groups: readonly Located[][]): Located[][] {
  const joined = new Map<string, Located[]>();
  for (const group of groups) {
    const key = shapeOf((group[0] as Located).node);
    joined.set(key, [...(joined.get(key) ?? []), ...group]);
  }
  return [...joined.values()];
}

/** Returns a string that is equal for nodes that are alike. With `anywhere` the paths of their objects may differ. */
export function shapeOf(node: PlanNode, anywhere = false): string {
  const inner = (each: PlanNode) => shapeOf(each, anywhere);
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return `${node.kind}(${node.nodes.map(inner).join()})${'begins' in node ? (node as Beginning).begins.join() : ''}`;
    case 'Flatten':
      return `Flatten(${anywhere ? '' : node.path.map((segment) => String(segment).replace(/\|.*/, '')).join('.')},${inner(node.node)})`;
    case 'Condition':
      return `Condition(${node.condition},${node.ifClause ? inner(node.ifClause) : ''},${node.elseClause ? inner(node.elseClause) : ''})`;
    case 'Fetch': {
      const { serviceName, operation, operationName = '', requires, onlyFor } = node as TypedFetch;
      const { inputRewrites, outputRewrites, contextRewrites } = node;
      const text = operationName === '' ? operation : operation.replace(operationName, '');
      return JSON.stringify([serviceName, text, requires, inputRewrites, outputRewrites, contextRewrites, onlyFor && [...onlyFor]]);
    }
    case 'Defer':
      return JSON.stringify(node);
  }
}
