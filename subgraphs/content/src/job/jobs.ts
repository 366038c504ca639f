/** Jobs of this subgraph. The users subgraph, which lists, cancels and retries the jobs of all subgraphs, calls these fields for its callers. */
import { JOB_SORTING } from '@trestle/chassis/jobs/job-store';
import { type WindowArguments, parseWindow } from '@trestle/chassis/paging/window';
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import type { ContentContext } from '../context.ts';
import type { JobFilter, MutationCancelContentJobArgs, MutationRetryContentJobArgs } from '../generated/resolvers.ts';
import { contentJobVisibility } from './rules.ts';

/** A page of ids, and how many matching jobs there are. */
export interface JobIdPage {
  readonly ids: readonly string[];
  readonly countTotal: () => Promise<number>;
}

type ListArguments = WindowArguments<'ID'> & { readonly filter?: JobFilter | null };

/** Throws UNAUTHORIZED or VALIDATION_ERROR. */
export async function listContentJobs({ filter, ...args }: ListArguments, context: ContentContext): Promise<JobIdPage> {
  const caller = requireCaller(context);
  const window = parseWindow(args, JOB_SORTING);
  const ownerId = hasRole(caller, 'ADMIN') ? filter?.ownerId : caller.userId;
  const scope = { filter: { ...filter, ownerId }, visibility: contentJobVisibility(caller) };
  const { jobs } = context.stores;
  const rows = await jobs.list(scope, { ...window, limit: window.offset + window.limit, offset: 0 });
  return { ids: rows.map(({ id }) => id), countTotal: () => jobs.count(scope) };
}

/** Throws UNAUTHORIZED, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export async function cancelContentJob(
  args: MutationCancelContentJobArgs,
  context: ContentContext,
  info: MutationCall['info'],
): Promise<true> {
  const change = { ...args, visibility: contentJobVisibility(requireCaller(context)) };
  await context.write({ args, info }, ({ together }) => together((stores) => context.jobControl.cancel(stores, change)));
  return true;
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export async function retryContentJob(
  args: MutationRetryContentJobArgs,
  context: ContentContext,
  info: MutationCall['info'],
): Promise<true> {
  const caller = requireCaller(context);
  if (!hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Retrying a job requires the role ADMIN.');
  const change = { ...args, visibility: contentJobVisibility(caller) };
  await context.write({ args, info }, ({ together }) => together((stores) => context.jobControl.retry(stores, change)));
  return true;
}
