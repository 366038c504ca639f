/** The mutation by which an account withdraws what it has allowed an OAuth client. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { UsersContext } from '../context.ts';
import type { MutationRevokeAuthorizationArgs } from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';

/** Ends a grant of the caller with its refresh tokens, and revokes its access tokens. Throws UNAUTHORIZED or NOT_FOUND. */
export async function revokeAuthorization({ id }: MutationRevokeAuthorizationArgs, context: UsersContext): Promise<true> {
  const { userId } = requireCaller(context);
  const clientId = await context.transact(async ({ authorizations, users, securityEvents }) => {
    const subject = await authorizations.end(userId, id);
    if (subject === undefined) return undefined;
    await users.revokeSession(userId, id);
    const client = toSessionClient(context);
    await securityEvents.record({ type: 'CONSENT_WITHDRAWN', userId, subject, detail: 'by the account', client });
    return subject;
  });
  if (clientId === undefined) throw notFound('authorization', id);
  await context.revoke({ userId, sessionId: id });
  return true;
}
