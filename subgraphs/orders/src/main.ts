/** The orders process. */
import { systemClock } from '@trestle/chassis/values/clock';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import { createIds } from '@trestle/chassis/values/ids';
import { runSubgraph } from '@trestle/chassis/server/serve';
import { readConfig } from './config.ts';
import { createOrdersContext } from './context.ts';
import { createOrdersStores } from './orders-stores.ts';
import { openPrisma } from './prisma-store.ts';
import { resolvers } from './resolvers/resolvers.ts';
import { createTopics } from './topics.ts';

const config = readConfig();

await runSubgraph({
  name: 'orders',
  port: config.ORDERS_PORT,
  databaseUrl: config.ORDERS_DATABASE_URL,
  settings: config,
  create: ({ database }) => {
    const prisma = openPrisma(database);
    const dependencies = { createId: createIds({ now: Date.now }), clock: systemClock };
    const idempotency = createIdempotency({
      prisma,
      createStores: (client) => createOrdersStores({ ...dependencies, prisma: client }),
      clock: systemClock,
    });
    return {
      resolvers,
      createContext: (request) => createOrdersContext(request, idempotency),
      topics: createTopics(idempotency.stores.orders),
      sweep: idempotency.sweep,
      close: () => prisma.$disconnect(),
    };
  },
});
