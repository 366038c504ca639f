/** The users process. */
import { systemClock } from '@trestle/chassis/values/clock';
import type { RequestContext } from '@trestle/chassis/request/context';
import type { Events } from '@trestle/chassis/events/events';
import { createIds } from '@trestle/chassis/values/ids';
import { runSubgraph } from '@trestle/chassis/server/serve';
import { createTokenIssuer } from '@trestle/identity/tokens';
import { readConfig } from './config.ts';
import { createUsersContext } from './context.ts';
import { createPasswords } from './passwords.ts';
import { authRules, resolvers } from './resolvers/resolvers.ts';
import { createRevocationDoor } from './revocation-door.ts';
import { followRevocations } from './revocation-feed.ts';
import { createTopics } from './topics.ts';
import { openUserStore } from './user-store.ts';

const config = readConfig();

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: ({ database, revocations, log }) => {
    const { idempotency, close } = openUserStore({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    const revocationDoor = createRevocationDoor(revocations);
    const dependencies = {
      passwords: createPasswords(),
      tokens: createTokenIssuer({ privateKeyPem: config.TOKEN_PRIVATE_KEY_FILE }),
      revoke: revocationDoor.revoke,
    };
    const createContext = (request: RequestContext) => createUsersContext(request, idempotency, dependencies);
    const begin = (events: Events) => {
      const stopFeed = followRevocations({ events, revocations, log, onKnown: revocationDoor.open });
      const stop = () => {
        stopFeed();
        revocationDoor.stop();
      };
      return { doors: { '/revocations': revocationDoor.upgrade }, stop };
    };
    return { resolvers, authRules, createContext, topics: createTopics(idempotency.stores), begin, sweep: idempotency.sweep, close };
  },
});
