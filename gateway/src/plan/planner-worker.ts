/** The planner's thread: one supergraph, one request after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Limits } from '../limits/limits.ts';
import { type PrepareRequest, type Prepared, type SupergraphFacts, createPlanner } from './planner.ts';

export interface PlannerSeed {
  readonly sdl: string;
  readonly limits: Limits;
}

export type PlannerQuestion =
  | { readonly id: number; readonly kind: 'prepare'; readonly request: PrepareRequest }
  | {
      readonly id: number;
      readonly kind: 'introspect';
      readonly request: PrepareRequest;
      readonly variables: Readonly<Record<string, unknown>>;
    };

export type PlannerAnswer =
  | { readonly kind: 'ready'; readonly facts: SupergraphFacts }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'prepared'; readonly id: number; readonly prepared: Prepared }
  | { readonly kind: 'introspected'; readonly id: number; readonly texts: Record<string, string> }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker thread');
const tell = (answer: PlannerAnswer) => {
  port.postMessage(answer);
};
const { sdl, limits } = workerData as PlannerSeed;

try {
  const planner = createPlanner(sdl, limits);
  port.on('message', (question: PlannerQuestion) => {
    const { id } = question;
    try {
      if (question.kind === 'prepare') tell({ kind: 'prepared', id, prepared: planner.prepare(question.request) });
      else tell({ kind: 'introspected', id, texts: planner.introspect(question.request, question.variables) });
    } catch (error) {
      tell({ kind: 'failed', id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  tell({ kind: 'ready', facts: planner.facts });
} catch (error) {
  tell({ kind: 'refused', reason: error instanceof Error ? error.message : String(error) });
}
