/** The GraphQL fields of the jobs of this subgraph. */
import { jobResolvers as fields } from '@trestle/chassis/jobs/job-resolvers';
import type { Resolvers } from '../generated/resolvers.ts';
import { cancelContentJob, listContentJobs, retryContentJob } from './jobs.ts';

export const jobResolvers: Resolvers = {
  Query: {
    contentJobs: (_, args, context) => listContentJobs(args, context),
  },
  Mutation: {
    cancelContentJob: (_, args, context, info) => cancelContentJob(args, context, info),
    retryContentJob: (_, args, context, info) => retryContentJob(args, context, info),
  },
  JobIds: { totalCount: ({ countTotal }) => countTotal() },
  PublishVideoJob: {
    __resolveReference: ({ id }, { loaders }) => loaders.job.find(id),
    ...fields,
    video: ({ subjectId }, _, { loaders }) => (subjectId === null ? null : loaders.video.find(subjectId)),
  },
};
