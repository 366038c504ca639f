/** What the serving thread and a planner thread send to each other. */
import type { Limits } from '../../limits/limits.ts';
import type { IntrospectionResults } from '../../program/program.ts';
import type { OperationDescription } from '../../request/operation-description.ts';
import type { UsageFormat } from '../../request/operation-usage.ts';
import type { PrepareRequest, Prepared, PreparedError, SupergraphFacts } from '../planner.ts';

export interface PlannerSeed {
  readonly sdl: string;
  readonly limits: Limits;
  /** Whether results of fetches are kept: plans then say for how long. */
  readonly keepsFetches: boolean;
  /** What programs say of their use; undefined when usage is not reported. */
  readonly usageFormat: UsageFormat | undefined;
  /** Whether equal fetches of entities become one. */
  readonly batchesEntities: boolean;
}

export type PlannerTask =
  | { readonly kind: 'prepare'; readonly request: PrepareRequest }
  | { readonly kind: 'introspect'; readonly request: PrepareRequest; readonly variables: Readonly<Record<string, unknown>> }
  | { readonly kind: 'describe'; readonly request: PrepareRequest };

/** A task for the thread. With `isLight` a heavy document is not planned, and the result is `heavy`. */
export type PlannerMessage = PlannerTask & { readonly isLight: boolean };

export type PlannerReply =
  { readonly kind: 'ready'; readonly facts: SupergraphFacts } | { readonly kind: 'refused'; readonly reason: string } | PlannerResult;

export type PlannerResult =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'introspected'; readonly results: IntrospectionResults }
  | { readonly kind: 'described'; readonly operations: readonly OperationDescription[] }
  | { readonly kind: 'invalid'; readonly error: PreparedError }
  | { readonly kind: 'heavy' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Returns the buffers of introspection results, which are handed over rather than copied. */
export function buffersOf(message: PlannerReply): ArrayBuffer[] {
  const results =
    message.kind === 'introspected'
      ? message.results
      : message.kind === 'prepared' && 'program' in message.prepared
        ? message.prepared.program.introspection?.fixed
        : undefined;
  return Object.values(results ?? {}).map(({ buffer }) => buffer as ArrayBuffer);
}
