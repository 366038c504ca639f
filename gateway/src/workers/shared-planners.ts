/** The planners that workers share, in the primary: one for each supergraph that a worker serves. A document is planned once for all workers. */
import type { Log } from '@trestle/log';
import { Fault, INTERNAL_ERROR_MESSAGE } from '@trestle/schema/errors';
import type { PlannerSeed } from '../plan/threads/planner-messages.ts';
import { TOO_MANY_WAIT } from '../plan/threads/planner-threads.ts';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';
import { LocatedFault } from '../program/located-fault.ts';
import type { FromPlanner, PlanFault, ToPlanner } from './messages.ts';
import { SharedPlanner } from './shared-planner.ts';

/** The bytes of results that may be on their way to one worker. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Supergraphs with a planner at a time: those of several graphs, each with a canary and during a change. */
const MAX_PLANNERS = 64;

/** A worker, as far as its planner needs it. */
export interface PlannerUser {
  /** Unique among the workers. */
  readonly id: number;
  /** Calls back once the message has left this process, or is lost. */
  readonly send: (message: FromPlanner, onSent: () => void) => void;
}

type OpenRequest = Extract<ToPlanner, { kind: 'open planner' }>;
type PlanRequest = Extract<ToPlanner, { kind: 'plan' }>;

export class SharedPlanners {
  readonly #log: Pick<Log, 'warn'>;
  readonly #planners = new Map<string, SharedPlanner>();
  /** Bytes of results that were sent to a worker and have not left this process. */
  readonly #unsent = new Map<number, number>();

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  /** Handles a message of a worker. */
  handle(user: PlannerUser, message: ToPlanner): void {
    switch (message.kind) {
      case 'open planner':
        void this.#open(user, message);
        return;
      case 'plan':
        this.#plan(user, message).catch((error: unknown) => {
          this.#log.warn('a plan could not be sent to a worker', { worker: user.id, error });
        });
        return;
      case 'close planner':
        if (this.#planners.get(message.key)?.removeUse(user.id)) this.#retire(message.key);
        return;
      case 'ping planner':
        reply(user, { kind: 'planner pong' });
    }
  }

  /** Frees what a worker used that has ended. */
  release({ id }: Pick<PlannerUser, 'id'>): void {
    this.#unsent.delete(id);
    for (const [key, planner] of this.#planners) if (planner.removeUser(id)) this.#retire(key);
  }

  async #open(user: PlannerUser, { id, key, seed }: OpenRequest): Promise<void> {
    const known = this.#planners.get(key);
    if (!known && !seed) {
      reply(user, { kind: 'planner unknown', id });
      return;
    }
    if (!known && this.#planners.size >= MAX_PLANNERS) {
      reply(user, { kind: 'planner refused', id, reason: `More than ${String(MAX_PLANNERS)} supergraphs are planned`, isPassing: true });
      return;
    }
    const planner = known ?? new SharedPlanner(seed as PlannerSeed);
    this.#planners.set(key, planner);
    planner.addUse(user.id);
    try {
      reply(user, { kind: 'planner opened', id, facts: await planner.facts });
    } catch (error) {
      if (this.#planners.get(key) === planner) this.#retire(key);
      const reason = error instanceof Error ? error.message : String(error);
      reply(user, { kind: 'planner refused', id, reason, isPassing: error instanceof PlannerUnavailable });
    }
  }

  async #plan(user: PlannerUser, { id, key, task, client, isShared }: PlanRequest): Promise<void> {
    try {
      const planner = this.#planners.get(key);
      if (!planner) throw new Fault('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: 'The planner of the supergraph is closed' });
      this.#sendResult(user, { id, result: await planner.run(task, { client, user: user.id, isShared }) });
    } catch (error) {
      reply(user, { kind: 'not planned', id, fault: toPlanFault(error) });
    }
  }

  /** Throws SERVICE_UNAVAILABLE when too many bytes are on their way to the worker. */
  #sendResult(user: PlannerUser, { id, result }: { readonly id: number; readonly result: Uint8Array }): void {
    const waiting = (this.#unsent.get(user.id) ?? 0) + result.byteLength;
    if (waiting > MAX_UNSENT_BYTES) throw new Fault('SERVICE_UNAVAILABLE', TOO_MANY_WAIT);
    this.#unsent.set(user.id, waiting);
    user.send({ kind: 'planned', id, result }, () => {
      const left = (this.#unsent.get(user.id) ?? 0) - result.byteLength;
      if (left > 0) this.#unsent.set(user.id, left);
      else this.#unsent.delete(user.id);
    });
  }

  #retire(key: string): void {
    this.#planners.get(key)?.retire();
    this.#planners.delete(key);
  }
}

function reply(user: PlannerUser, message: FromPlanner): void {
  user.send(message, () => undefined);
}

function toPlanFault(error: unknown): PlanFault {
  if (!(error instanceof Fault)) return { code: 'INTERNAL_ERROR', message: INTERNAL_ERROR_MESSAGE, reason: String(error) };
  const { code, message, cause } = error;
  const locations = error instanceof LocatedFault ? { locations: error.locations } : {};
  const reason = cause === undefined ? {} : { reason: cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause) };
  return { code, message, ...locations, ...reason };
}
