/** Compiles the plan of an operation, with equal fetches of entities in batches where that does not cost more than it saves (ADR 50). */
import type { PlanNode, SubscriptionNode } from '@apollo/query-planner';
import type { FetchStep, PlanStep } from '../../program/program.ts';
import { type BytesInput, type GeneratedBytes, generateBytes } from '../bytes/generate-bytes.ts';
import { orderContexts } from '../corrections/order-contexts.ts';
import { PlanCompiler, type PlanCompilerInput } from './plan-steps.ts';

export interface CompiledPlan {
  readonly compiler: PlanCompiler;
  /** The fetch that a subscription begins with. */
  readonly source: FetchStep | undefined;
  readonly steps: PlanStep | undefined;
  /** Undefined for an operation that is executed with objects in any case. */
  readonly bytes: GeneratedBytes | undefined;
}

export interface PlanInput {
  /** Undefined for an operation without fetches. */
  readonly node: PlanNode | SubscriptionNode | undefined;
  readonly compiler: Omit<PlanCompilerInput, 'isDeferred'>;
  /** Undefined for an operation that is executed with objects in any case. */
  readonly bytes: Omit<BytesInput, 'sources'> | undefined;
}

/** Compiles a plan. Execution on bytes saves more than batches do: where only the plan without batches allows it, there are none. Throws Uncovered. */
export function compilePlan(input: PlanInput): CompiledPlan {
  const first = compileOnce(input, input.compiler);
  if (!first.compiler.hasBatches || !first.bytes || first.bytes.program) return first;
  const plain = compileOnce(input, { ...input.compiler, batchesEntities: false });
  return plain.bytes?.program ? plain : first;
}

function compileOnce({ node, bytes }: PlanInput, options: PlanCompilerInput): CompiledPlan {
  const compiler = new PlanCompiler(options);
  const isSubscription = node?.kind === 'Subscription';
  const source = isSubscription ? compiler.compileSource(node.primary) : undefined;
  const compiled = compiler.compile(isSubscription ? node.rest : node);
  // Contexts order the steps of a plan, which batches make a graph.
  if (compiler.hasContexts && compiler.hasBatches)
    return compileOnce({ node, bytes, compiler: options }, { ...options, batchesEntities: false });
  const steps = compiler.hasContexts ? orderContexts(compiled, source) : compiled;
  const isPlain = !compiler.hasContexts && !isSubscription;
  return { compiler, source, steps, bytes: bytes && isPlain ? generateBytes({ ...bytes, sources: compiler.sources }) : undefined };
}
