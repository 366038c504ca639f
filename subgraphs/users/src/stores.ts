/** The stores of this subgraph on one Prisma client, which may be that of a transaction. */
import type { Database } from '@trestle/chassis/database/database';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { StoreOptions } from '@trestle/chassis/stores/row-store';
import { type UserClient, type UserStore, createUserStore, openPrisma } from './user/store.ts';

export interface UsersStores {
  readonly users: UserStore;
}

interface Dependencies extends Omit<StoreOptions<never>, 'prisma'> {
  readonly database: Database;
}

/** Opens the stores, and what runs their writes once for each Idempotency-Key. */
export function openUsersStores({ database, ...options }: Dependencies) {
  const prisma = openPrisma(database);
  const idempotency = createIdempotency<UserClient, UsersStores>({
    prisma,
    createStores: (client) => ({ users: createUserStore({ ...options, prisma: client }) }),
    clock: options.clock,
  });
  return { idempotency, close: () => prisma.$disconnect() };
}
