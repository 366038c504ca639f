/** The users process. */
import type { Events } from '@trestle/chassis/events/events';
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import type { Background } from '@trestle/chassis/server/subgraph';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { createTokenIssuer } from '@trestle/identity/tokens';
import { readConfig } from './config.ts';
import { createUsersContext } from './context.ts';
import { resolvers } from './resolvers.ts';
import { readRevocations } from './revocation/event-source.ts';
import { RevocationPublisher } from './revocation/publisher.ts';
import { openUsersStores } from './stores.ts';
import { createTopics } from './topics.ts';
import { createPasswords } from './user/passwords.ts';
import { authRules } from './user/resolvers.ts';

const config = readConfig();

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: ({ database, revocations, log }) => {
    const { idempotency, close } = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    const publisher = new RevocationPublisher({ revocations });
    const dependencies = {
      passwords: createPasswords(),
      tokens: createTokenIssuer({ privateKeyPem: config.TOKEN_PRIVATE_KEY_FILE }),
      revoke: publisher.revoke.bind(publisher),
    };
    const startBackground = (events: Events): Background => {
      const stopReading = readRevocations({ events, revocations, log, onComplete: publisher.open.bind(publisher) });
      const stop = () => {
        stopReading();
        publisher.stop();
      };
      return { upgrades: { '/revocations': publisher.upgrade.bind(publisher) }, stop };
    };
    return {
      resolvers,
      authRules,
      createContext: (request) => createUsersContext(request, idempotency, dependencies),
      topics: createTopics(idempotency.stores),
      startBackground,
      sweep: idempotency.sweep,
      close,
    };
  },
});
