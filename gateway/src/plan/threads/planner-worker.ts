/** Runs in a planner's worker thread: plans for one supergraph, one request at a time, and replies to each with exactly one message. */
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createGrowthLimit, watchHeap } from '@trestle/service/process/heap-watch';
import { GraphQLError } from 'graphql';
import { type PlannerMessage, type PlannerReply, type PlannerSeed, buffersOf } from './planner-messages.ts';
import { createUsageDescriber } from '../describe/usage-describer.ts';
import { createPlanner, toPreparedError } from '../planner.ts';
import { LIGHT_WEIGHT, TooHeavy } from '../operation/read-operation.ts';

/** The garbage that the thread may hold beside its schemas. V8 would let it grow to several times their size. */
const GROWN_BYTES = 12 * 1024 * 1024;
/** The largest share of the thread's time for collections after tasks. */
const COLLECTING_SHARE = 0.2;
/** A thread with so much more niceness gets a quarter of the CPU for which both compete. */
const ADDED_NICENESS = 5;

const port = parentPort;
if (!port) throw new Error('planner-worker.js must run in a worker thread.');
const reply = (message: PlannerReply) => {
  port.postMessage(message, buffersOf(message));
};
yieldToServing();
// A collection in this thread delays only requests whose document is not planned yet.
const collectWhenGrown = createGrowthLimit({ grownBytes: GROWN_BYTES, maxShare: COLLECTING_SHARE });
watchHeap({ grownBytes: GROWN_BYTES });
const { sdl, limits, usageFormat, ...options } = workerData as PlannerSeed;

try {
  const describeUsage = usageFormat && (await createUsageDescriber(usageFormat, sdl));
  const planner = createPlanner(sdl, limits, { ...options, describeUsage });
  port.on('message', (message: PlannerMessage) => {
    const { request } = message;
    const maxWeight = message.isLight ? LIGHT_WEIGHT : Infinity;
    try {
      if (message.kind === 'prepare') reply({ kind: 'prepared', prepared: planner.prepare(request, maxWeight) });
      else if (message.kind === 'describe') reply({ kind: 'described', operations: planner.describe(request.query) });
      else reply({ kind: 'introspected', results: planner.introspect(request, message.variables, maxWeight) });
    } catch (error) {
      if (error instanceof TooHeavy) reply({ kind: 'heavy' });
      else if (error instanceof GraphQLError) reply({ kind: 'invalid', error: toPreparedError(error) });
      else reply({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
    collectWhenGrown();
  });
  reply({ kind: 'ready', facts: planner.facts });
} catch (error) {
  reply({ kind: 'refused', reason: error instanceof Error ? error.message : String(error) });
}

/**
 * Gives this thread a lower priority than the thread that serves requests: where they share too few CPUs, new documents wait rather than every
 * request. Linux has a priority for each thread; elsewhere it is left as it is.
 */
function yieldToServing(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + ADDED_NICENESS, constants.priority.PRIORITY_LOW));
  } catch {
    // The system does not allow it.
  }
}
