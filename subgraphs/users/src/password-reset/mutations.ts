/** The mutations of password resets. Anonymous callers may use them. */
import type { Job } from '@trestle/chassis/jobs/job';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { UsersContext } from '../context.ts';
import type { MutationRequestPasswordResetArgs, MutationResetPasswordArgs } from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';
import { parseResetSubject } from './rules.ts';

/** Throws VALIDATION_ERROR or RATE_LIMIT_EXCEEDED. */
export function requestPasswordReset(
  args: MutationRequestPasswordResetArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<Job> {
  const { caller } = context;
  // A job without an account is seen by everybody who knows its id, as this caller must be able to: it sees no jobs of its account.
  const ownerId = caller?.scopes.has('account:manage') ? caller.userId : null;
  const request = { subject: parseResetSubject(args), client: toSessionClient(context), ownerId };
  return context.write({ args, info }, (stores) => context.passwordResets.request(stores, request));
}

/** Throws VALIDATION_ERROR or SERVICE_UNAVAILABLE. */
export async function resetPassword(args: MutationResetPasswordArgs, context: UsersContext): Promise<true> {
  await context.passwordResets.confirm({ ...args, client: toSessionClient(context) });
  return true;
}
