/** Cancels and retries jobs, with what follows from it for the resources that they work on, in one transaction. */
import type { ExpectedVersions } from '../request/faults.ts';
import { notFound, versionMismatch } from '../request/faults.ts';
import type { JobStores, SubgraphJobs } from './job-work.ts';
import { type Job, type JobVisibility, wrongState } from './job.ts';

/** A request to change a job. */
export interface JobChange {
  readonly id: string;
  readonly visibility: JobVisibility;
  readonly expectedVersions?: ExpectedVersions;
}

/** Changes jobs. Each method throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION, and then has changed nothing. */
export interface JobControl {
  /** Cancels a job that is queued or running. The attempt of a running job ends without an effect in the database. */
  cancel(change: JobChange): Promise<Job>;
  /** Queues a failed job again. */
  retry(change: JobChange): Promise<Job>;
}

/** Creates it. */
export function createJobControl<Stores extends JobStores>({ works, transact }: SubgraphJobs<Stores>): JobControl {
  return {
    cancel: ({ id, visibility, expectedVersions }) =>
      transact(async (stores) => {
        const job = await stores.jobs.cancel(id, expectedVersions ?? null);
        if (!job || !maySee(visibility, job)) throw await explain(stores, { id, visibility, expectedVersions }, CANCEL_RULE);
        await works[job.kind]?.abandon?.(job, stores);
        return job;
      }),
    retry: ({ id, visibility, expectedVersions }) =>
      transact(async (stores) => {
        const job = await stores.jobs.retry(id, expectedVersions ?? null);
        if (!job || !maySee(visibility, job)) throw await explain(stores, { id, visibility, expectedVersions }, RETRY_RULE);
        await works[job.kind]?.resume?.(job, stores);
        return job;
      }),
  };
}

const CANCEL_RULE = 'Only queued and running jobs can be cancelled.';
const RETRY_RULE = 'Only failed jobs can be retried.';

/** A job of an anonymous caller belongs to nobody: administrators alone change it. */
function maySee(visibility: JobVisibility, { ownerId }: Job): boolean {
  return visibility === 'all' || (ownerId !== null && ownerId === visibility.ownerId);
}

async function explain({ jobs }: JobStores, { id, visibility, expectedVersions }: JobChange, rule: string): Promise<Error> {
  const [job] = await jobs.findByIds([id], { filter: {}, visibility });
  if (!job || !maySee(visibility, job)) return notFound('job', id);
  if (expectedVersions && !expectedVersions.includes(job.version)) return versionMismatch('job', job);
  return wrongState(job, rule);
}
