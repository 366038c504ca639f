/** Limits how mutations use the database: a maximum at once, each within its time, and a retry after a serialization failure. */
import { setImmediate } from 'node:timers/promises';
import { fail } from '@trestle/schema/errors';
import { type GraphQLField, type GraphQLSchema, defaultFieldResolver } from 'graphql';
import { isSerializationFailure } from '../database/database-faults.ts';
import { type TimeAllowed, runWithDeadline } from '../database/deadline.ts';
import type { RequestContext } from '../request/context.ts';

/** How often a mutation is retried whose transaction was rolled back because of a concurrent one; it has changed nothing until then. */
const RETRIES = 2;

/** Limits of the mutations of a process. */
export interface MutationLimits {
  /** The most mutations at once. Fewer than the pool's connections, so that writers that wait for a locked row leave some to reads. */
  readonly concurrency: number;
  /** The most mutations that wait for their turn. */
  readonly queueLength: number;
  readonly allowed: TimeAllowed;
}

/** What a mutation needs of its context. */
type Requester = Pick<RequestContext, 'isAbandoned'> | undefined;

/**
 * Wraps the resolvers of all mutations. A mutation that does not start in time, or whose client has disconnected before, throws
 * SERVICE_UNAVAILABLE and has changed nothing.
 */
export function applyMutationLimits(schema: GraphQLSchema, limits: MutationLimits): void {
  const queue = new MutationQueue(limits);
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {}) as GraphQLField<unknown, Requester>[];
  for (const field of fields) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = async (source, args: Record<string, unknown>, context, info) => {
      await readEndOfConnection();
      const isAbandoned = () => context?.isAbandoned?.() ?? false;
      if (isAbandoned()) throw fail('SERVICE_UNAVAILABLE', 'The client has disconnected. Nothing was changed.');
      const run = () => queue.run(() => retry(() => resolve(source, args, context, info)));
      return runWithDeadline(limits.allowed, run, isAbandoned);
    };
  }
}

/**
 * Resolves after two turns of the event loop. A process that was stopped, or busy for long, first reads a request that the gateway has given up
 * meanwhile, and only then the end of its connection.
 */
async function readEndOfConnection(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

async function retry(work: () => unknown): Promise<unknown> {
  for (let left = RETRIES; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isSerializationFailure(error)) throw error;
    }
  }
}

/** Runs up to `concurrency` tasks at once; the others wait in their order, for a limited time. */
class MutationQueue {
  readonly #limits: MutationLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: MutationLimits) {
    this.#limits = limits;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // A task that ends passes its place on to the next one, so the place is not counted twice.
    if (this.#running < this.#limits.concurrency) this.#running++;
    else await this.#wait();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= this.#limits.queueLength) {
        reject(overloaded());
        return;
      }
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(overloaded());
      }, this.#limits.allowed.startMs);
      this.#waiting.push(start);
    });
  }
}

function overloaded(): Error {
  return fail('SERVICE_UNAVAILABLE', 'Too many mutations are waiting. Nothing was changed. Retry after 1 second.', {
    retryAfterSeconds: 1,
  });
}
