/** Jobs: work that a request has asked for and that goes on after its response (contract §3). No I/O. */
import type { Caller } from '@trestle/identity';
import { hasRole } from '@trestle/identity';
import type { Scope } from '@trestle/identity/scopes';
import { type Fault, fail } from '@trestle/schema/errors';
import type { JobKind } from './job-kinds.ts';

/** The states: queued → running → succeeded or failed. A running job is queued again for its next attempt. */
export type JobStatus = 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

/** The record of a job, as far as clients may see it. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  /** Percent, 0 to 100. */
  readonly progress: number;
  /** What a job that succeeded has produced. */
  readonly result: JsonObject | null;
  /** Why the last attempt failed. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The account that asked for it; null when an anonymous caller did. */
  readonly ownerId: string | null;
  /** The id of what the job is about, such as a video. */
  readonly subjectId: string | null;
  /** How many attempts were begun. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** What a job is created with. It is stored until the job has succeeded or was cancelled: no secrets. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An error as clients see it. */
export interface JobError {
  readonly code: string;
  readonly message: string;
}

/** The jobs that a caller may see: all of them, or those of one account and those that anonymous callers asked for. */
export type JobVisibility = 'all' | { readonly ownerId: string | null };

/** Returns the jobs that a caller may see; a credential without the scope shows only those that anonymous callers asked for. */
export function jobVisibilityOf(caller: Caller | null, scope: Scope): JobVisibility {
  if (!caller?.scopes.has(scope)) return { ownerId: null };
  return hasRole(caller, 'ADMIN') ? 'all' : { ownerId: caller.userId };
}

/** Returns the error of the last attempt. */
export function errorOf({ errorCode, errorMessage }: Pick<Job, 'errorCode' | 'errorMessage'>): JobError | null {
  return errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
}

/** Returns BUSINESS_RULE_VIOLATION for a job that is in another state than the request needs. */
export function wrongState({ id, status }: Pick<Job, 'id' | 'status'>, rule: string): Fault {
  return fail('BUSINESS_RULE_VIOLATION', `Job ${id} is ${status.toLowerCase()}. ${rule}`);
}
