/** The users process. */
import { systemClock } from '@trestle/chassis/clock';
import { createIds } from '@trestle/chassis/ids';
import { runSubgraph } from '@trestle/chassis/serve';
import { createTokenIssuer } from '@trestle/identity/tokens';
import { readConfig } from './config.ts';
import { createUsersContext } from './context.ts';
import { createPasswords } from './passwords.ts';
import { authRules, resolvers } from './resolvers/resolvers.ts';
import { createUserStore } from './user-store.ts';

const config = readConfig();

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: (database) => {
    const users = createUserStore({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    const dependencies = {
      users,
      passwords: createPasswords(),
      tokens: createTokenIssuer({ privateKeyPem: config.TOKEN_PRIVATE_KEY_FILE }),
    };
    return { resolvers, authRules, createContext: (request) => createUsersContext(request, dependencies), close: users.close };
  },
});
