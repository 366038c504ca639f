/** What the authorization server needs of the accounts. */
import type { IncomingMessage } from 'node:http';
import { passedClientOf } from '@trestle/service/clients/client-id';
import type { Authenticate } from '../login/authenticate.ts';
import { toSessionClient } from '../session/client.ts';
import type { LoginAccount, SessionClient } from '../session/store.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { UsersStores } from '../stores.ts';
import type { User } from '../user/rules.ts';
import type { OAuthServerOptions } from './server.ts';

/** What accounts are read and checked with. */
export interface AccountOptions extends Pick<UsersStores, 'users' | 'securityEvents'> {
  readonly authenticate: Authenticate;
  readonly secondFactors: SecondFactors;
}

/** Returns the account functions of the server. */
export function createAccounts({
  users,
  securityEvents,
  authenticate,
  secondFactors,
}: AccountOptions): Pick<OAuthServerOptions, 'findAccount' | 'authenticate' | 'completeLogin' | 'revokeToken'> {
  const accept = async (user: User, client: SessionClient): Promise<LoginAccount> => {
    await securityEvents.record({ type: 'LOGIN_SUCCEEDED', userId: user.id, detail: 'authorization server', client });
    return user;
  };
  return {
    async authenticate({ request, ...credentials }) {
      const client = toClient(request);
      const user = await authenticate(credentials, client);
      await secondFactors.demand(user);
      return accept(user, client);
    },
    async completeLogin({ request, ...proof }) {
      const client = toClient(request);
      return accept(await secondFactors.complete(proof, client), client);
    },
    async findAccount(id) {
      const [user] = await users.findByIds([id]);
      return user?.isActive ? secondFactors.restrict(user) : undefined;
    },
    revokeToken: (userId, tokenId) => users.revokeToken(userId, tokenId),
  };
}

function toClient(request: IncomingMessage): SessionClient {
  return toSessionClient({ http: { userAgent: request.headers['user-agent'], client: passedClientOf(request) } });
}
