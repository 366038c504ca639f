/** The content process. */
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { readConfig } from './config.ts';
import { createContentContext } from './context.ts';
import { resolvers } from './resolvers.ts';
import { openContentStores } from './stores.ts';
import { createTopics } from './topics.ts';

const config = readConfig();

await runSubgraph({
  name: 'content',
  port: config.CONTENT_PORT,
  databaseUrl: config.CONTENT_DATABASE_URL,
  settings: config,
  create: ({ database }) => {
    const { idempotency, close } = openContentStores({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    return {
      resolvers,
      createContext: (request) => createContentContext(request, idempotency),
      topics: createTopics(idempotency.stores),
      sweep: idempotency.sweep,
      close,
    };
  },
});
