/** Compiles the deferred fragments of an operation: Apollo's planner says which fetches come later, the code writes each part on its own. */
import type { PlanNode, SubscriptionNode } from '@apollo/query-planner';
import type { GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { DeferredPart, DeferredProgram } from '../../program/deferred-program.ts';
import type { PlanStep } from '../../program/program.ts';
import type { Beginning } from '../steps/alike-nodes.ts';
import { UNRESOLVABLE, Uncovered, requireCover } from '../selections/cover.ts';
import type { PlanCompiler } from '../steps/plan-steps.ts';
import type { ReadOperation } from '../operation/read-operation.ts';
import { createSelections } from '../selections/selection.ts';
import { splitDeferred, toPartIndex, toPlannedLabel } from '../corrections/split-deferred.ts';
import { generateExplain } from './writer-code.ts';

export interface DeferredInput {
  readonly schema: GraphQLSchema;
  readonly compiler: PlanCompiler;
  /** Returns the plan of an operation without fragment spreads. */
  readonly plan: (operation: OperationDefinitionNode) => PlanNode | SubscriptionNode | undefined;
}

/** The most deferred fragments of an operation. Fragments that spread each other twice double them, and the time of planning grows faster. */
const MAX_PARTS = 100;

/**
 * Returns undefined for an operation that is executed as a whole: one that defers nothing or too much, and one whose plan cannot be divided, which a
 * server may decide for itself (proposal "Incremental Delivery", §6: "a GraphQL service may choose not to defer").
 */
export function compileDeferred(
  { incremental: operation, root, denied, introspection, selections, sets }: ReadOperation,
  { schema, compiler, plan }: DeferredInput,
): DeferredProgram | undefined {
  if (!operation || denied.size > 0 || introspection) return undefined;
  const split = splitDeferred(schema, operation);
  if (split.parts.length === 0 || split.parts.length > MAX_PARTS) return undefined;
  try {
    const divided = divide(plan(split.planned));
    const compile = (node: PlanNode | undefined) => compiler.compile(node);
    const first = compile(divided.first);
    const parts = split.parts.map(({ label, variable, path, types, when, parent }, i): DeferredPart => {
      if (!divided.later.has(toPlannedLabel(i))) throw new Uncovered(UNRESOLVABLE, { cause: 'The plan has no such part.' });
      return { label, variable, path, types, when, parent, plan: compile(divided.later.get(toPlannedLabel(i))) };
    });
    // The order of fetches with contextual arguments is that of the whole plan.
    if (compiler.hasContexts) throw new Undivided();
    const steps = [first, ...parts.map((part) => part.plan)].filter((step): step is PlanStep => step !== undefined);
    requireCover({ root, selections, sets, denied, steps });
    const writing = { schema, selections: createSelections(schema, new Map()), denied };
    const writers = split.parts.map(({ type, set }) => generateExplain({ ...writing, root: type, sets: [{ set, when: [] }] }));
    const writeFirst = generateExplain({ ...writing, root, sets: [{ set: split.first, when: [] }] });
    const code = `return{first:${writeFirst},parts:[${writers.join(',')}],collect:[${compiler.collect.join(',')}],represent:[${compiler.represent.join(',')}]};`;
    return { plan: first, parts, interfaces: compiler.interfaces, code };
  } catch (error) {
    if (error instanceof Uncovered || error instanceof Undivided) return undefined;
    throw error;
  }
}

/** Thrown for a plan that cannot be divided into its parts. */
class Undivided extends Error {}

interface Divided {
  readonly first: PlanNode | undefined;
  /** The plan of each deferred fragment by its label. */
  readonly later: ReadonlyMap<string, PlanNode | undefined>;
}

/** Takes the deferred parts out of a plan. Throws Undivided where one depends on more than the fetches around it. */
function divide(plan: PlanNode | SubscriptionNode | undefined): Divided {
  const later = new Map<string, PlanNode | undefined>();
  const visit = (node: PlanNode | undefined): PlanNode | undefined => {
    switch (node?.kind) {
      case 'Sequence':
      case 'Parallel': {
        const nodes = node.nodes.flatMap((each) => visit(each) ?? []);
        return nodes.length > 0 ? { ...node, nodes } : undefined;
      }
      case 'Defer':
        return node.deferred.reduce((primary, { label, depends, node: part }) => {
          if (label === undefined || later.has(label)) throw new Undivided();
          later.set(label, undefined);
          later.set(label, visit(part));
          return part ? addBegin(primary, toPartIndex(label), new Set(depends.map(({ id }) => id))) : primary;
        }, visit(node.primary.node));
      case 'Condition':
      case 'Flatten':
        if (hasDefer(node)) throw new Undivided();
        return node;
      default:
        return node;
    }
  };
  if (plan?.kind === 'Subscription') throw new Undivided();
  return { first: visit(plan), later };
}

/**
 * Adds to a plan where the fetches of a part may begin: after those that it depends on. Where it depends on others too it has no such place, and
 * begins when the part around it is delivered.
 */
function addBegin(node: PlanNode | undefined, part: number, depends: ReadonlySet<string>): PlanNode | undefined {
  const found = node ? idsOf(node, depends) : [];
  if (!node || found.length === 0 || new Set(found).size < depends.size) return node;
  if (node.kind === 'Sequence' || node.kind === 'Parallel') {
    const isHolding = (each: PlanNode) => idsOf(each, depends).length > 0;
    const last = node.nodes.findLastIndex(isHolding);
    const inner = node.nodes[last] as PlanNode;
    if (node.kind === 'Sequence' || node.nodes.filter(isHolding).length === 1) {
      const own = new Set(idsOf(inner, depends));
      return { ...node, nodes: node.nodes.with(last, addBegin(inner, part, own) as PlanNode) };
    }
  }
  const begin: Beginning = { kind: 'Sequence', nodes: [node], begins: [part] };
  return begin;
}

/** Returns the ids of fetches that are among `wanted`. */
function idsOf(node: PlanNode, wanted: ReadonlySet<string>): string[] {
  switch (node.kind) {
    case 'Fetch':
      return node.id !== undefined && wanted.has(node.id) ? [node.id] : [];
    case 'Sequence':
    case 'Parallel':
      return node.nodes.flatMap((each) => idsOf(each, wanted));
    case 'Flatten':
      return idsOf(node.node, wanted);
    case 'Condition':
      return [node.ifClause, node.elseClause].flatMap((each) => (each ? idsOf(each, wanted) : []));
    case 'Defer':
      throw new Error('Deferred parts have been taken out');
  }
}

function hasDefer(node: PlanNode): boolean {
  switch (node.kind) {
    case 'Defer':
      return true;
    case 'Sequence':
    case 'Parallel':
      return node.nodes.some(hasDefer);
    case 'Flatten':
      return hasDefer(node.node);
    case 'Condition':
      return (node.ifClause !== undefined && hasDefer(node.ifClause)) || (node.elseClause !== undefined && hasDefer(node.elseClause));
    case 'Fetch':
      return false;
  }
}
