/** The stores of this subgraph on one Prisma client, which may be that of a transaction. */
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { FindDeleted, StoreOptions } from '@trestle/chassis/stores/row-store';
import { type ChannelStore, createChannelStore } from './channel/store.ts';
import { type CommentStore, createCommentStore } from './comment/store.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import { type MessageStore, createMessageStore } from './message/store.ts';
import { type PostStore, createPostStore } from './post/store.ts';
import { type VideoStore, createVideoStore } from './video/store.ts';

export interface ContentStores {
  readonly posts: PostStore;
  readonly comments: CommentStore;
  readonly videos: VideoStore;
  readonly channels: ChannelStore;
  readonly messages: MessageStore;
  readonly findDeleted: FindDeleted;
}

interface Dependencies extends Omit<StoreOptions<never>, 'prisma'> {
  readonly database: Database;
}

/** Opens the stores, and what runs their writes once for each Idempotency-Key. */
export function openContentStores({ database, ...options }: Dependencies) {
  const prisma = openPrisma(database);
  const idempotency = createIdempotency<Prisma.TransactionClient, ContentStores>({
    prisma,
    createStores: (client) => createContentStores({ ...options, prisma: client }),
    clock: options.clock,
  });
  return { idempotency, close: () => prisma.$disconnect() };
}

/** Creates the Prisma client of the pool. */
export function openPrisma({ adapter }: Pick<Database, 'adapter'>): PrismaClient {
  return new PrismaClient({ adapter, transactionOptions: TRANSACTION_LIMITS });
}

function createContentStores(options: StoreOptions<Prisma.TransactionClient>): ContentStores {
  const findDeleted: FindDeleted = (ids) => options.prisma.tombstone.findMany({ where: { id: { in: [...ids] } }, select: { id: true } });
  const withTombstones = { ...options, findDeleted };
  return {
    posts: createPostStore(withTombstones),
    comments: createCommentStore(withTombstones),
    videos: createVideoStore(withTombstones),
    channels: createChannelStore(options),
    messages: createMessageStore(withTombstones),
    findDeleted,
  };
}
