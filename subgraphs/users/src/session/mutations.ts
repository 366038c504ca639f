/** The mutations of sessions. */
import { requireCaller } from '@trestle/chassis/request/context';
import { fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import type { MutationLoginArgs, MutationLogoutArgs } from '../generated/resolvers.ts';
import type { User } from '../user/rules.ts';

interface Session {
  readonly token: string;
  /** In seconds. */
  readonly expiresIn: number;
  readonly user: User;
}

/** Issues an access token. Throws UNAUTHORIZED, in the same words and after the same time whatever is wrong. */
export async function login({ email, password }: MutationLoginArgs, { stores, passwords, tokens }: UsersContext): Promise<Session> {
  const user = await stores.users.findForLogin(email);
  const matches = await passwords.matches(password, user?.passwordHash ?? null);
  if (!user || !matches || !user.isActive) throw fail('UNAUTHORIZED', 'The e-mail address or the password is wrong.');
  const { token, expiresInSeconds } = tokens.issue(user);
  return { token, expiresIn: expiresInSeconds, user: { ...user, isProven: true } };
}

/** Revokes the caller's token, or with `everywhere` all tokens of the account. Throws UNAUTHORIZED. */
export async function logout({ everywhere }: Partial<MutationLogoutArgs>, context: UsersContext): Promise<true> {
  const { userId, tokenId } = requireCaller(context);
  const { users } = context.stores;
  const generation = everywhere ? await users.revokeAllTokens(userId) : undefined;
  if (generation === undefined) await users.revokeToken(userId, tokenId);
  await context.revoke(generation === undefined ? { userId, tokenId } : { userId, generation });
  return true;
}
