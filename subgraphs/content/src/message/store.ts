/** Messages in PostgreSQL. Callers are logged in: see loaders.ts. */
import type { Sorting } from '@trestle/chassis/paging/window';
import { createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, type RowStore, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Message, MessageBody } from './rules.ts';

/** Ids sort by creation time, more precisely than the seconds of `createdAt`. */
export const MESSAGE_SORTING: Sorting<'ID'> = {
  list: 'messages',
  columns: { ID: { column: 'id', type: 'text' } },
  default: { field: 'ID', direction: 'DESC' },
};

const MESSAGES = { table: 'messages', where: [] };

export type MessageStore = ReturnType<typeof createMessageStore>;

export function createMessageStore({ prisma, createId, clock, findDeleted }: DeletingStoreOptions<Prisma.TransactionClient>) {
  const rows: RowStore<Message, void, 'ID'> = createRowStore({ prisma, sorting: MESSAGE_SORTING, rowsOf: () => MESSAGES });
  const resource = { noun: 'message', find: (where: Prisma.MessageWhereInput) => prisma.message.findMany({ where }), findDeleted };

  return {
    ...rows,

    create(message: Pick<Message, 'channelId' | 'authorId' | 'body'>): Promise<Message> {
      const now = clock();
      return prisma.message.create({ data: { id: createId('msg'), ...message, createdAt: now, updatedAt: now } });
    },

    update: createGuardedUpdate<Message, MessageBody>({ ...resource, clock, update: (args) => prisma.message.updateManyAndReturn(args) }),
    delete: createGuardedDelete<Message, true>({
      ...resource,
      remove: async (where) => (await prisma.message.deleteMany({ where })).count > 0 || undefined,
    }),
  };
}
