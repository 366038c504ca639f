/** Jobs of all subgraphs: found, listed, cancelled and retried here, wherever they are. */
import { JOB_KINDS, type JobKind, isJobOf, jobKindOf } from '@trestle/chassis/jobs/job-kinds';
import { JOB_SORTING } from '@trestle/chassis/jobs/job-store';
import type { Job } from '@trestle/chassis/jobs/job';
import { type Connection, toConnection } from '@trestle/chassis/paging/connection';
import { type WindowArguments, parseWindow } from '@trestle/chassis/paging/window';
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { Caller } from '@trestle/identity';
import { hasRole } from '@trestle/identity';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { type UsersContext, writeTogether } from '../context.ts';
import type { JobFilter, MutationCancelJobArgs, MutationRetryJobArgs } from '../generated/resolvers.ts';
import type { RemoteChange } from './remote-jobs.ts';
import { ownJobVisibility } from './rules.ts';

/** A job of another subgraph, which the gateway resolves there. */
export interface JobReference {
  readonly __typename: (typeof JOB_KINDS)[JobKind]['type'];
  readonly id: string;
}

/** What the interface `Job` is resolved from. */
export type AnyJob = Job | JobReference;

/** Every page is merged from the pages of two databases, which both read what is skipped. */
const MAX_OFFSET = 1000;
const isOwn = isJobOf('users');

/** Returns the name of the GraphQL type of a job. */
export function typeOfJob(job: AnyJob): JobReference['__typename'] {
  return '__typename' in job ? job.__typename : JOB_KINDS[job.kind].type;
}

/** Returns a job of this subgraph, a reference to one of another, or null for a string that is no job's id. */
export async function findJob(id: string, { loaders }: UsersContext): Promise<AnyJob | null> {
  const kind = jobKindOf(id);
  if (kind === undefined) return null;
  return isOwn(id) ? loaders.job.find(id) : { __typename: JOB_KINDS[kind].type, id };
}

type ListArguments = WindowArguments<'ID'> & { readonly filter?: JobFilter | null };

/** Returns a page of the caller's jobs, or of all for administrators. Throws UNAUTHORIZED, FORBIDDEN or VALIDATION_ERROR. */
export async function listJobs({ filter: given, ...args }: ListArguments, context: UsersContext): Promise<Connection<AnyJob>> {
  const caller = requireCaller(context);
  const window = parseWindow(args, JOB_SORTING);
  if (window.offset > MAX_OFFSET) rejectFaults([{ field: 'offset', message: `must be 0 to ${String(MAX_OFFSET)}` }]);
  const filter = { ...given, ownerId: allowOwner(caller, given?.ownerId) };
  const authorization = authorizationOf(context);
  const scope = { filter, visibility: ownJobVisibility(caller) };
  const [own, remoteIds] = await Promise.all([
    context.stores.jobs.list(scope, { ...window, limit: window.offset + window.limit, offset: 0 }),
    context.remoteJobs.list({ ...args, filter }, authorization),
  ]);
  const remote = remoteIds.flatMap((id): AnyJob[] => {
    const kind = jobKindOf(id);
    return kind ? [{ __typename: JOB_KINDS[kind].type, id }] : [];
  });
  // Newest first, or oldest first for a page from the end, as both were read.
  const direction = window.backward ? 1 : -1;
  const merged = [...own, ...remote].sort((one, other) => (one.id < other.id ? -direction : direction));
  return toConnection(merged.slice(window.offset, window.offset + window.limit + 1), window, async () => {
    const counts = await Promise.all([context.stores.jobs.count(scope), context.remoteJobs.count(filter, authorization)]);
    return counts[0] + counts[1];
  });
}

/** Cancels a job. Throws UNAUTHORIZED, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export async function cancelJob(args: MutationCancelJobArgs, context: UsersContext, info: MutationCall['info']): Promise<AnyJob> {
  const caller = requireCaller(context);
  const change = { ...args, visibility: ownJobVisibility(caller) };
  if (isOwn(args.id)) return writeTogether(context, { args, info }, (stores) => context.jobControl.cancel(stores, change));
  const reference = await toReference(args.id, context);
  await context.remoteJobs.cancel(toRemoteChange(args, context), authorizationOf(context));
  return reference;
}

/** Queues a failed job again. Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export async function retryJob(args: MutationRetryJobArgs, context: UsersContext, info: MutationCall['info']): Promise<AnyJob> {
  const caller = requireCaller(context);
  if (!hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Retrying a job requires the role ADMIN.');
  const change = { ...args, visibility: ownJobVisibility(caller) };
  if (isOwn(args.id)) return writeTogether(context, { args, info }, (stores) => context.jobControl.retry(stores, change));
  const reference = await toReference(args.id, context);
  await context.remoteJobs.retry(toRemoteChange(args, context), authorizationOf(context));
  return reference;
}

/** The subgraph of the job stores the Idempotency-Key, in the transaction of the change. */
function toRemoteChange({ id, expectedVersions = null }: MutationCancelJobArgs, { idempotency }: UsersContext): RemoteChange {
  return { id, expectedVersions, idempotency };
}

async function toReference(id: string, context: UsersContext): Promise<AnyJob> {
  const reference = await findJob(id, context);
  if (!reference) throw notFound('job', id);
  return reference;
}

function allowOwner(caller: Caller, ownerId: string | null | undefined): string | null {
  if (hasRole(caller, 'ADMIN')) return ownerId ?? null;
  if (ownerId != null && ownerId !== caller.userId) throw fail('FORBIDDEN', 'Listing the jobs of another account requires the role ADMIN.');
  return caller.userId;
}

function authorizationOf({ http }: UsersContext): string {
  return http?.authorization ?? '';
}
