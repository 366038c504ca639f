/** The users process. */
import { systemClock } from '@trestle/chassis/clock';
import type { RequestContext } from '@trestle/chassis/context';
import { createIds } from '@trestle/chassis/ids';
import { runSubgraph } from '@trestle/chassis/serve';
import { createTokenIssuer } from '@trestle/identity/tokens';
import { readConfig } from './config.ts';
import { createUsersContext } from './context.ts';
import { createPasswords } from './passwords.ts';
import { authRules, resolvers } from './resolvers/resolvers.ts';
import { createTopics } from './topics.ts';
import { openUserStore } from './user-store.ts';

const config = readConfig();

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: (database) => {
    const { idempotency, close } = openUserStore({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    const dependencies = {
      passwords: createPasswords(),
      tokens: createTokenIssuer({ privateKeyPem: config.TOKEN_PRIVATE_KEY_FILE }),
    };
    const createContext = (request: RequestContext) => createUsersContext(request, idempotency, dependencies);
    return { resolvers, authRules, createContext, topics: createTopics(idempotency.stores), sweep: idempotency.sweep, close };
  },
});
