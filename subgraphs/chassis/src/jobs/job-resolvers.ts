/** The GraphQL fields of jobs that are not columns. */
import { type Job, type JobError, errorOf } from './job.ts';

/** The resolvers that every job type has. */
export const jobResolvers = {
  error: (job: Pick<Job, 'errorCode' | 'errorMessage'>): JobError | null => errorOf(job),
};
