/** What the authorization server needs of the accounts. */
import { passedClientOf } from '@trestle/service/client-id';
import type { Authenticate } from '../login/authenticate.ts';
import { toSessionClient } from '../session/client.ts';
import type { UsersStores } from '../stores.ts';
import type { InteractionOptions } from './interactions.ts';
import type { OAuthServerOptions } from './server.ts';

/** What accounts are read and checked with. */
export interface AccountOptions extends Pick<UsersStores, 'users' | 'securityEvents'> {
  readonly authenticate: Authenticate;
}

/** Returns the account functions of the server. */
export function createAccounts({
  users,
  securityEvents,
  authenticate,
}: AccountOptions): Pick<OAuthServerOptions, 'findAccount' | 'authenticate' | 'revokeToken'> {
  const logIn: InteractionOptions['authenticate'] = async ({ email, password, request }) => {
    const client = toSessionClient({ http: { userAgent: request.headers['user-agent'], client: passedClientOf(request) } });
    const { id: userId } = await authenticate({ email, password }, client);
    await securityEvents.record({ type: 'LOGIN_SUCCEEDED', userId, detail: 'authorization server', client });
    return userId;
  };
  return {
    authenticate: logIn,
    async findAccount(id) {
      const [user] = await users.findByIds([id]);
      return user?.isActive ? user : undefined;
    },
    revokeToken: (userId, tokenId) => users.revokeToken(userId, tokenId),
  };
}
