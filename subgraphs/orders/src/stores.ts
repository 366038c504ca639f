/** The stores of this subgraph on one Prisma client, which may be that of a transaction. */
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import { type Corrections, createCorrections } from '@trestle/chassis/search/corrections';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { StoreOptions } from '@trestle/chassis/stores/row-store';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import { type OrderStore, createOrderStore } from './order/store.ts';
import { type PaymentStore, createPaymentStore } from './payment/store.ts';
import { type ProductStore, createProductStore } from './product/store.ts';

export interface OrdersStores {
  readonly orders: OrderStore;
  readonly products: ProductStore;
  readonly payments: PaymentStore;
  readonly corrections: Corrections;
}

interface Dependencies extends Omit<StoreOptions<never>, 'prisma'> {
  readonly database: Database;
}

/** Opens the stores, and what runs their writes once for each Idempotency-Key. */
export function openOrdersStores({ database, ...options }: Dependencies) {
  const prisma = openPrisma(database);
  const idempotency = createIdempotency<Prisma.TransactionClient, OrdersStores>({
    prisma,
    createStores: (client) => createOrdersStores({ ...options, prisma: client }),
  });
  return { idempotency, close: () => prisma.$disconnect() };
}

/** Creates the Prisma client of the pool. */
export function openPrisma({ adapter }: Pick<Database, 'adapter'>): PrismaClient {
  return new PrismaClient({ adapter, transactionOptions: TRANSACTION_LIMITS });
}

function createOrdersStores(options: StoreOptions<Prisma.TransactionClient>): OrdersStores {
  return {
    orders: createOrderStore(options),
    products: createProductStore(options),
    payments: createPaymentStore(options),
    corrections: createCorrections(options.prisma),
  };
}
