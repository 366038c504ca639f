/** What the authorization server needs of the accounts. */
import { fail } from '@trestle/schema/errors';
import type { Passwords } from '../user/passwords.ts';
import type { UserStore } from '../user/store.ts';
import type { InteractionOptions } from './interactions.ts';
import type { OAuthServerOptions } from './server.ts';

/** What accounts are read and checked with. */
export interface AccountOptions {
  readonly users: UserStore;
  readonly passwords: Passwords;
}

/** Returns the account functions of the server. */
export function createAccounts({
  users,
  passwords,
}: AccountOptions): Pick<OAuthServerOptions, 'findAccount' | 'authenticate' | 'revokeToken'> {
  const authenticate: InteractionOptions['authenticate'] = async ({ email, password }) => {
    const user = await users.findForLogin(email);
    const matches = await passwords.matches(password, user?.passwordHash ?? null);
    if (!user || !matches || !user.isActive) throw fail('UNAUTHORIZED', 'The e-mail address or the password is wrong.');
    return user.id;
  };
  return {
    authenticate,
    async findAccount(id) {
      const [user] = await users.findByIds([id]);
      return user?.isActive ? user : undefined;
    },
    revokeToken: (userId, tokenId) => users.revokeToken(userId, tokenId),
  };
}
