/** Jobs of this subgraph. The users subgraph, which lists, cancels and retries the jobs of all subgraphs, calls these fields for its callers. */
import { JOB_SORTING } from '@trestle/chassis/jobs/job-store';
import { type WindowArguments, parseWindow } from '@trestle/chassis/paging/window';
import { requireCaller } from '@trestle/chassis/request/context';
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
export async function cancelContentJob({ id, expectedVersions }: MutationCancelContentJobArgs, context: ContentContext): Promise<true> {
  await context.jobControl.cancel({ id, visibility: contentJobVisibility(requireCaller(context)), expectedVersions });
  return true;
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export async function retryContentJob({ id, expectedVersions }: MutationRetryContentJobArgs, context: ContentContext): Promise<true> {
  const caller = requireCaller(context);
  if (!hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Retrying a job requires the role ADMIN.');
  await context.jobControl.retry({ id, visibility: contentJobVisibility(caller), expectedVersions });
  return true;
}
