/** All stores of this subgraph over one Prisma client, and what they share: reads by id, and tombstones. */
import type { Clock } from '@trestle/chassis/clock';
import type { Database } from '@trestle/chassis/database';
import type { CreateId } from '@trestle/chassis/ids';
import { createCommentStore } from './comment-store.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { createChannelStore, createMessageStore } from './message-store.ts';
import { createPostStore } from './post-store.ts';
import { createVideoStore } from './video-store.ts';

export type ContentStores = Omit<ReturnType<typeof openContentStores>, 'close'>;

export function openContentStores({ database, createId, clock }: { database: Database; createId: CreateId; clock: Clock }) {
  const prisma = new PrismaClient({ adapter: database.adapter });

  /** Which of these ids belonged to something that was deleted. */
  const findDeleted = (ids: readonly string[]): Promise<{ id: string }[]> =>
    prisma.tombstone.findMany({ where: { id: { in: [...ids] } }, select: { id: true } });

  const parts = { prisma, createId, clock, findDeleted };
  return {
    posts: createPostStore(parts),
    comments: createCommentStore(parts),
    videos: createVideoStore(parts),
    channels: createChannelStore(parts),
    messages: createMessageStore(parts),
    findDeleted,
    close: () => prisma.$disconnect(),
  };
}
