/** The GraphQL fields of jobs (contract §3). */
import { jobResolvers as fields } from '@trestle/chassis/jobs/job-resolvers';
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { cancelJob, findJob, listJobs, retryJob, typeOfJob } from './jobs.ts';

export const jobResolvers: Resolvers = {
  Query: {
    job: (_, { id }, context) => findJob(id, context),
    jobsConnection: (_, args, context) => listJobs(args, context),
  },
  Mutation: {
    cancelJob: (_, args, context, info) => cancelJob(args, context, info),
    retryJob: (_, args, context, info) => retryJob(args, context, info),
  },
  Job: { __resolveType: (job) => typeOfJob(job) },
  ResetPasswordJob: { __resolveReference: ({ id }, { loaders }) => loaders.job.find(id), ...fields },
  SendMailJob: { __resolveReference: ({ id }, { loaders }) => loaders.job.find(id), ...fields },
  JobConnection: connectionResolvers,
};
