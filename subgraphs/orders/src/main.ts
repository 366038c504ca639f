/** The orders process. */
import { systemClock } from '@trestle/chassis/clock';
import { createIds } from '@trestle/chassis/ids';
import { runSubgraph } from '@trestle/chassis/serve';
import { readConfig } from './config.ts';
import { createOrdersContext } from './context.ts';
import { createOrderStore } from './order-store.ts';
import { createPaymentStore } from './payment-store.ts';
import { openPrisma } from './prisma-store.ts';
import { createProductStore } from './product-store.ts';
import { resolvers } from './resolvers/resolvers.ts';

const config = readConfig();

await runSubgraph({
  name: 'orders',
  port: config.ORDERS_PORT,
  databaseUrl: config.ORDERS_DATABASE_URL,
  settings: config,
  create: (database) => {
    const prisma = openPrisma(database);
    const dependencies = { prisma, createId: createIds({ now: Date.now }), clock: systemClock };
    const stores = {
      orders: createOrderStore(dependencies),
      products: createProductStore(dependencies),
      payments: createPaymentStore(dependencies),
    };
    return { resolvers, createContext: (request) => createOrdersContext(request, stores), close: () => prisma.$disconnect() };
  },
});
