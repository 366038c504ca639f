/** What a subgraph says of each kind of its jobs: how the work is done, and what else is written when it ends. */
import type { JobKind } from './job-kinds.ts';
import type { JobStore, Attempt } from './job-store.ts';
import type { JsonObject } from './job.ts';

/** The stores of a subgraph with jobs. */
export interface JobStores {
  readonly jobs: JobStore;
}

/** Runs several writes in one transaction, on stores of their own. */
export type TransactJobs<Stores extends JobStores> = <T>(work: (stores: Stores) => Promise<T>) => Promise<T>;

/** What an attempt works with. */
export interface AttemptControl {
  /** Aborted when the time is over, when the job was cancelled or taken over by another worker, and when the process stops. */
  readonly signal: AbortSignal;
  /** Records the progress, in percent. Reports that follow each other within a second are left out. */
  readonly report: (progress: number) => Promise<void>;
}

/** The end of an attempt that succeeded. */
export interface Completion<Stores extends JobStores> {
  readonly result: JsonObject | null;
  /** Writes the effect, in the transaction in which the job succeeds: so it happens exactly once. */
  readonly write?: (stores: Stores) => Promise<void>;
}

/** The work of one kind. */
export interface JobWork<Stores extends JobStores> {
  /**
   * Does the work. An attempt may be the second one at what a stopped process has half done. A Fault that the client can do something about
   * (any code but INTERNAL_ERROR, UPSTREAM_*, SERVICE_UNAVAILABLE) fails the job; any other error is retried with a growing delay.
   */
  readonly run: (attempt: Attempt, control: AttemptControl) => Promise<Completion<Stores>>;
  /** Writes what follows from a failure or a cancellation, in its transaction. */
  readonly abandon?: (job: Attempt, stores: Stores) => Promise<void>;
  /** Writes what follows from a retry of a failed job, in its transaction. */
  readonly resume?: (job: Attempt, stores: Stores) => Promise<void>;
}

/** The jobs of a subgraph. */
export interface SubgraphJobs<Stores extends JobStores> {
  readonly works: Readonly<Partial<Record<JobKind, JobWork<Stores>>>>;
  readonly transact: TransactJobs<Stores>;
  /** The stores outside of any transaction. */
  readonly stores: Stores;
}
