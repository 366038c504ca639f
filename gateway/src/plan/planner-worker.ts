/** The code of a planner's thread: it has one supergraph, does one task after the other, and answers each by exactly one message. */
import { parentPort, workerData } from 'node:worker_threads';
import { watchHeap } from '@trestle/service/heap-watch';
import type { Limits } from '../limits/limits.ts';
import { GraphQLError } from 'graphql';
import { type PrepareRequest, type Prepared, type PreparedError, type SupergraphFacts, createPlanner, toPreparedError } from './planner.ts';
import { LIGHT_WEIGHT, TooHeavy } from './read-operation.ts';

export interface PlannerSeed {
  readonly sdl: string;
  readonly limits: Limits;
}

export type PlannerTask =
  | { readonly kind: 'prepare'; readonly request: PrepareRequest }
  | { readonly kind: 'introspect'; readonly request: PrepareRequest; readonly variables: Readonly<Record<string, unknown>> };

/** With `isLight` a heavy document is not planned; the result is `heavy`. */
export type PlannerQuestion = PlannerTask & { readonly isLight: boolean };

export type PlannerAnswer =
  { readonly kind: 'ready'; readonly facts: SupergraphFacts } | { readonly kind: 'refused'; readonly reason: string } | PlannerResult;

export type PlannerResult =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'introspected'; readonly texts: Record<string, string> }
  | { readonly kind: 'invalid'; readonly error: PreparedError }
  | { readonly kind: 'heavy' }
  | { readonly kind: 'failed'; readonly reason: string };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker thread');
const tell = (answer: PlannerAnswer) => {
  port.postMessage(answer);
};
// Only documents wait for a collection here, and no request that is known.
watchHeap({ grownBytes: 12 * 1024 * 1024, busyMs: 3000 });
const { sdl, limits } = workerData as PlannerSeed;

try {
  const planner = createPlanner(sdl, limits);
  port.on('message', (question: PlannerQuestion) => {
    const { request } = question;
    const maxWeight = question.isLight ? LIGHT_WEIGHT : Infinity;
    try {
      if (question.kind === 'prepare') tell({ kind: 'prepared', prepared: planner.prepare(request, maxWeight) });
      else tell({ kind: 'introspected', texts: planner.introspect(request, question.variables, maxWeight) });
    } catch (error) {
      if (error instanceof TooHeavy) tell({ kind: 'heavy' });
      else if (error instanceof GraphQLError) tell({ kind: 'invalid', error: toPreparedError(error) });
      else tell({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  tell({ kind: 'ready', facts: planner.facts });
} catch (error) {
  tell({ kind: 'refused', reason: error instanceof Error ? error.message : String(error) });
}
