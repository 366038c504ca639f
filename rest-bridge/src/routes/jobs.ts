/** Routes of jobs (contract §4). */
import { JOB } from '../resources/event-resources.ts';
import { act, getList, getOne, remove } from './route-kinds.ts';
import type { Route } from './route.ts';

/** Each page is merged from the jobs of two subgraphs. The gateway refuses more. */
const MAX_OFFSET = 1000;
const needsCaller = true;
const resource = JOB;
const spec = 'contract §4';

/** The routes under `/jobs`. */
export const jobRoutes: readonly Route[] = [
  getList({
    path: '/jobs',
    operation: 'ListJobs',
    resource,
    summary: 'Lists the jobs of the caller, newest first; administrators see all jobs',
    needsCaller,
    filter: 'JobFilter',
    maxOffset: MAX_OFFSET,
    spec,
  }),
  getOne({ path: '/jobs/{id}', operation: 'GetJob', resource, summary: 'Returns a job: its state, progress, result or error', spec }),
  remove({
    path: '/jobs/{id}',
    operation: 'CancelJob',
    resource,
    summary: 'Cancels a job, as `/jobs/{id}/cancel` does',
    needsCaller,
    spec,
  }),
  act({
    path: '/jobs/{id}/cancel',
    operation: 'CancelJob',
    resource,
    summary: 'Cancels a job that is queued or running',
    needsCaller,
    spec,
  }),
  act({
    path: '/jobs/{id}/retry',
    operation: 'RetryJob',
    resource,
    summary: 'Queues a failed job again; for administrators',
    needsCaller,
    spec,
  }),
];
