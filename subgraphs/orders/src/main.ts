/** The orders process. */
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { readConfig } from './config.ts';
import { createOrdersContext } from './context.ts';
import { PRODUCTS_KEYS } from './product/store.ts';
import { resolvers } from './resolvers.ts';
import { openOrdersStores } from './stores.ts';
import { createTopics } from './topics.ts';

const config = readConfig();

await runSubgraph({
  name: 'orders',
  port: config.ORDERS_PORT,
  databaseUrl: config.ORDERS_DATABASE_URL,
  settings: config,
  create: ({ database }) => {
    const { idempotency, close } = openOrdersStores({ database, createId: createIds({ now: Date.now }), clock: systemClock });
    return {
      resolvers,
      createContext: (request) => createOrdersContext(request, idempotency),
      topics: createTopics(idempotency.stores),
      lateIndexes: [PRODUCTS_KEYS],
      sweeps: [idempotency.sweep],
      close,
    };
  },
});
