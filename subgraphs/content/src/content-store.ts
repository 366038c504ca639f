/** All stores of this subgraph over one Prisma client, and what they share: reads by id, and tombstones. */
import type { Clock } from '@trestle/chassis/values/clock';
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { CreateId } from '@trestle/chassis/values/ids';
import { createCommentStore } from './comment-store.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import { createChannelStore, createMessageStore } from './message-store.ts';
import { createPostStore } from './post-store.ts';
import { createVideoStore } from './video-store.ts';

export type ContentStores = ReturnType<typeof createContentStores>;

interface Parts {
  readonly createId: CreateId;
  readonly clock: Clock;
}

/** The stores on the database, and what makes their writes happen once for an Idempotency-Key. */
export function openContentStores({ database, ...parts }: Parts & { readonly database: Database }) {
  const prisma = new PrismaClient({ adapter: database.adapter, transactionOptions: TRANSACTION_LIMITS });
  const idempotency = createIdempotency<Prisma.TransactionClient, ContentStores>({
    prisma,
    createStores: (client) => createContentStores({ ...parts, prisma: client }),
    clock: parts.clock,
  });
  return { idempotency, close: () => prisma.$disconnect() };
}

function createContentStores({ prisma, ...rest }: Parts & { readonly prisma: Prisma.TransactionClient }) {
  /** Which of these ids belonged to something that was deleted. */
  const findDeleted = (ids: readonly string[]): Promise<{ id: string }[]> =>
    prisma.tombstone.findMany({ where: { id: { in: [...ids] } }, select: { id: true } });

  const parts = { prisma, findDeleted, ...rest };
  return {
    posts: createPostStore(parts),
    comments: createCommentStore(parts),
    videos: createVideoStore(parts),
    channels: createChannelStore(parts),
    messages: createMessageStore(parts),
    findDeleted,
  };
}
