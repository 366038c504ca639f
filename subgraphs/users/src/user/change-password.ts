/** The mutation that sets a new password. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { Caller } from '@trestle/identity';
import { ACCESS_TOKEN_SECONDS } from '@trestle/identity/tokens/tokens';
import { fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import { toSessionClient } from '../session/client.ts';
import { type AuthPayload, isLogin } from '../session/mutations.ts';
import { type PasswordChange, checkNewPassword } from './rules.ts';

/**
 * Sets a new password. Triggers revoke the tokens of the account and end its other sessions and its OAuth grants, in the same
 * transaction. Returns a new access token with the session and the scopes of the request. Throws UNAUTHORIZED, VALIDATION_ERROR, CONFLICT
 * when another request was first, and what {@link ConfirmPassword} rejects with.
 */
export async function changePassword(change: PasswordChange, context: UsersContext): Promise<AuthPayload> {
  const caller = requireCaller(context);
  const { userId, sessionId, tokenId, scopes } = caller;
  const user = await context.loaders.user.need(userId);
  checkNewPassword(user, change);
  const client = toSessionClient(context);
  const from = await context.confirmPassword({ userId, password: change.currentPassword }, client);
  const to = await context.passwords.hash(change.newPassword);
  const changed = await context.transact(async ({ users, sessions, securityEvents }) => {
    if (sessionId !== null) await sessions.keepDuringTransaction(sessionId);
    const account = await users.setPassword(userId, { from, to });
    if (!account) throw fail('CONFLICT', 'The password was changed by another request at the same time. Log in again.');
    await securityEvents.record({ type: 'PASSWORD_CHANGED', userId, client });
    return account;
  });
  await context.revoke({ userId, generation: changed.tokenGeneration });
  const grant = await context.secondFactors.restrict({ ...changed, sessionId: sessionId ?? tokenId });
  const { token, expiresInSeconds } = context.tokens.issue({ ...grant, scopes, lifetimeSeconds: toLifetime(caller, context.clock()) });
  return { token, expiresIn: expiresInSeconds, user: { ...changed, isProven: true } };
}

/** Returns how long the new token is valid, in seconds: no longer than that of the request, unless this is a login. An API key may expire then. */
function toLifetime({ sessionId, expiresAt }: Caller, now: Date): number {
  if (isLogin(sessionId)) return ACCESS_TOKEN_SECONDS;
  const secondsLeft = expiresAt - Math.ceil(now.getTime() / 1000);
  return Math.min(Math.max(secondsLeft, 1), ACCESS_TOKEN_SECONDS);
}
