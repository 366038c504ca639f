/** How mutations share the database with reads: at most some at once, each within its time, and again after a collision. */
import { fail } from '@trestle/schema/errors';
import { type GraphQLField, type GraphQLSchema, defaultFieldResolver } from 'graphql';
import { isCollision } from '../database/database-faults.ts';
import { type TimeAllowed, runWithDeadline } from '../database/deadline.ts';

/** How often a mutation is run again whose transaction collided with another one; it has changed nothing until then. */
const RETRIES = 2;

export interface MutationLimits {
  /** The most mutations at once. Fewer than the connections of the pool, so that writers that wait for a locked row leave connections to reads. */
  readonly atOnce: number;
  /** How many may wait for their turn. */
  readonly waiting: number;
  readonly allowed: TimeAllowed;
}

/** Wraps the resolvers of all mutations. One that does not get its turn in time throws SERVICE_UNAVAILABLE and has changed nothing. */
export function applyMutationLimits(schema: GraphQLSchema, limits: MutationLimits): void {
  const turns = createTurns(limits);
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {}) as GraphQLField<unknown, unknown>[];
  for (const field of fields) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = (source, args: Record<string, unknown>, context, info) =>
      runWithDeadline(limits.allowed, () => turns.run(() => retry(() => resolve(source, args, context, info))));
  }
}

async function retry(work: () => unknown): Promise<unknown> {
  for (let left = RETRIES; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isCollision(error)) throw error;
    }
  }
}

/** A queue in which so many run at once and the others wait, in their order and for a limited time. */
function createTurns({ atOnce, waiting, allowed: { startMs } }: MutationLimits) {
  const queue: (() => void)[] = [];
  let running = 0;
  const busy = () => fail('SERVICE_UNAVAILABLE', 'Too many changes are waiting. Nothing was changed; try again.', { retryAfterSeconds: 1 });

  const wait = () =>
    new Promise<void>((resolve, reject) => {
      if (queue.length >= waiting) {
        reject(busy());
        return;
      }
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1);
        reject(busy());
      }, startMs);
      queue.push(enter);
    });

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      // Who leaves hands the place on, so that it is not counted twice.
      if (running < atOnce) running++;
      else await wait();
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
