/** Remembers which documents took too much time or memory to plan, so that a client cannot repeat the work. */
import { createHash } from 'node:crypto';
import { Fault } from '@trestle/schema/errors';
import type { PlannerTask } from './planner-messages.ts';

/** Thrown for a document that takes too much time or memory to plan. */
export class TooMuchWork extends Fault {
  constructor() {
    super('VALIDATION_ERROR', 'Planning the operation takes too much time or memory. Select fewer fields.');
  }
}

const REMEMBER_MS = 60_000;
/** A digest and its time take less than 200 bytes each, so all of them less than 1 MB. */
const MAX_DOCUMENTS = 5000;

export interface RefusedDocumentsOptions {
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
  readonly maxDocuments?: number;
}

/** A set of planner tasks that forgets each of them after a minute, and the oldest when there are too many. */
export class RefusedDocuments {
  /** Times of refusal by digest, the oldest first. */
  readonly #refusedAt = new Map<string, number>();
  readonly #now: () => number;
  readonly #maxDocuments: number;

  constructor({ now = () => performance.now(), maxDocuments = MAX_DOCUMENTS }: RefusedDocumentsOptions = {}) {
    this.#now = now;
    this.#maxDocuments = maxDocuments;
  }

  get size(): number {
    return this.#refusedAt.size;
  }

  has(task: PlannerTask): boolean {
    if (this.#refusedAt.size === 0) return false;
    this.#forget(this.#maxDocuments);
    return this.#refusedAt.has(digestOf(task));
  }

  add(task: PlannerTask): void {
    const digest = digestOf(task);
    this.#refusedAt.delete(digest);
    this.#forget(this.#maxDocuments - 1);
    this.#refusedAt.set(digest, this.#now());
  }

  /** Forgets what was refused a minute ago, and the oldest until no more than `maxDocuments` are left. */
  #forget(maxDocuments: number): void {
    const deadline = this.#now() - REMEMBER_MS;
    for (const [digest, refusedAt] of this.#refusedAt) {
      if (refusedAt > deadline && this.#refusedAt.size <= maxDocuments) break;
      this.#refusedAt.delete(digest);
    }
  }
}

function digestOf(task: PlannerTask): string {
  return createHash('sha256').update(JSON.stringify(task)).digest('base64');
}
