/** The plan of a request as people read it, with when each fetch went out and how long it took. */
import type { FetchStep, PlanStep } from '../program/program.ts';

export interface PlanReport {
  /** To be called as the plan runs. */
  readonly observe: (step: FetchStep, event: 'sent' | 'answered') => void;
  /** The plan in JSON; times in milliseconds since the plan began. Fetches that were not needed have none. */
  readonly write: (plan: PlanStep | undefined) => unknown;
}

interface Times {
  readonly sentMs: number;
  answeredMs?: number;
}

export function createPlanReport(now: () => number = () => performance.now()): PlanReport {
  const began = now();
  const times = new Map<FetchStep, Times>();
  const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
  const write = (step: PlanStep | undefined): unknown => {
    if (!step) return undefined;
    switch (step.kind) {
      case 'sequence':
      case 'parallel':
        return { kind: step.kind, steps: step.steps.map(write) };
      case 'condition':
        return { kind: 'condition', variable: step.variable, then: write(step.then), otherwise: write(step.otherwise) };
      case 'fetch': {
        const { service, path, operation, entities } = step;
        const { sentMs, answeredMs } = times.get(step) ?? {};
        return {
          kind: 'fetch',
          service,
          path: path.join('.'),
          isOfEntities: entities !== undefined,
          operation,
          ...(sentMs !== undefined && { sentMs: round(sentMs) }),
          ...(sentMs !== undefined && answeredMs !== undefined && { durationMs: round(answeredMs - sentMs) }),
        };
      }
    }
  };
  return {
    observe(step, event) {
      const known = times.get(step);
      if (!known) times.set(step, { sentMs: now() - began });
      else if (event === 'answered') known.answeredMs = now() - began;
    },
    write,
  };
}
