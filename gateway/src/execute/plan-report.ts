/** Reports the plan of a request, with the start and the duration of each fetch. */
import type { FetchStep, PlanStep } from '../program/program.ts';

export interface PlanReport {
  /** Called before and after each fetch. */
  readonly observe: (step: FetchStep, event: 'sent' | 'received') => void;
  /** Returns the plan for `extensions`; times are in milliseconds since the start of the plan. A fetch that was not needed has none. */
  readonly write: (plan: PlanStep | undefined) => unknown;
}

interface Times {
  readonly sentMs: number;
  receivedMs?: number;
}

/** Creates the report of one execution, which starts now. */
export function createPlanReport(now: () => number = () => performance.now()): PlanReport {
  const startedAt = now();
  const times = new Map<FetchStep, Times>();
  const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
  const write = (step: PlanStep | undefined): unknown => {
    if (!step) return undefined;
    switch (step.kind) {
      case 'sequence':
      case 'parallel':
        return { kind: step.kind, steps: step.steps.map(write) };
      case 'graph':
        return { kind: step.kind, steps: step.steps.map((each, i) => ({ after: step.after[i], step: write(each) })) };
      case 'condition':
        return { kind: 'condition', variable: step.variable, then: write(step.then), otherwise: write(step.otherwise) };
      case 'fetch': {
        const { service, path, paths, operation, entities } = step;
        const { sentMs, receivedMs } = times.get(step) ?? {};
        return {
          kind: 'fetch',
          service,
          path: path.join('.'),
          ...(paths.length > 1 && { paths: paths.map((each) => each.join('.')) }),
          isOfEntities: entities !== undefined,
          operation,
          ...(sentMs !== undefined && { sentMs: round(sentMs) }),
          ...(sentMs !== undefined && receivedMs !== undefined && { durationMs: round(receivedMs - sentMs) }),
        };
      }
    }
  };
  return {
    observe(step, event) {
      const known = times.get(step);
      if (!known) times.set(step, { sentMs: now() - startedAt });
      else if (event === 'received') known.receivedMs = now() - startedAt;
    },
    write,
  };
}
