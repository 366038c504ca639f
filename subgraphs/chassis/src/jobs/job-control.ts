/** Cancels and retries jobs, with what follows from it for the resources that they work on. */
import type { ExpectedVersions } from '../request/faults.ts';
import { checkVersion, notFound } from '../request/faults.ts';
import type { JobStores, SubgraphJobs } from './job-work.ts';
import { type Job, type JobVisibility, wrongState } from './job.ts';
import type { Attempt } from './job-store.ts';

/** A request to change a job. */
export interface JobChange {
  readonly id: string;
  readonly visibility: JobVisibility;
  readonly expectedVersions?: ExpectedVersions;
}

/**
 * Changes jobs, on the stores of one transaction. Each method throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION, after which the
 * transaction must be rolled back.
 */
export interface JobControl<Stores extends JobStores> {
  /**
   * Cancels a job that is queued or running. The attempt of a running job ends without an effect in the database. Returns a job that was cancelled
   * before as it is, since DELETE is idempotent (spec §4.1).
   */
  cancel(stores: Stores, change: JobChange): Promise<Job>;
  /** Queues a failed job again. */
  retry(stores: Stores, change: JobChange): Promise<Job>;
}

/** Creates it. */
export function createJobControl<Stores extends JobStores>({ works }: Pick<SubgraphJobs<Stores>, 'works'>): JobControl<Stores> {
  return {
    async cancel(stores, { id, visibility, expectedVersions }) {
      const change = { id, visibility, expectedVersions };
      const job = await stores.jobs.cancel(id, expectedVersions ?? null);
      if (!job) return findCancelled(stores, change);
      if (!maySee(visibility, job)) throw notFound('job', id);
      await works[job.kind]?.abandon?.(job, stores);
      return withoutInput(job);
    },
    async retry(stores, { id, visibility, expectedVersions }) {
      const job = await stores.jobs.retry(id, expectedVersions ?? null);
      if (!job) throw wrongState(await find(stores, { id, visibility, expectedVersions }), RETRY_RULE);
      if (!maySee(visibility, job)) throw notFound('job', id);
      await works[job.kind]?.resume?.(job, stores);
      return withoutInput(job);
    },
  };
}

/** The input, such as an e-mail address, is neither for clients nor for the results that are stored for repetitions. */
function withoutInput(attempt: Attempt): Job {
  return Object.fromEntries(Object.entries(attempt).filter(([name]) => name !== 'input')) as unknown as Job;
}

const CANCEL_RULE = 'Only queued and running jobs can be cancelled.';
const RETRY_RULE = 'Only failed jobs can be retried.';

/** A job of an anonymous caller belongs to nobody: administrators alone change it. */
function maySee(visibility: JobVisibility, { ownerId }: Job): boolean {
  return visibility === 'all' || (ownerId !== null && ownerId === visibility.ownerId);
}

/** Returns a job that was cancelled before. Throws for any other. */
async function findCancelled(stores: JobStores, change: JobChange): Promise<Job> {
  const job = await find(stores, change);
  if (job.status === 'CANCELLED') return job;
  throw wrongState(job, CANCEL_RULE);
}

/** Returns the job. Throws NOT_FOUND or PRECONDITION_FAILED. */
async function find({ jobs }: JobStores, { id, visibility, expectedVersions }: JobChange): Promise<Job> {
  const [job] = await jobs.findByIds([id], { filter: {}, visibility });
  if (!job || !maySee(visibility, job)) throw notFound('job', id);
  checkVersion('job', job, expectedVersions);
  return job;
}
