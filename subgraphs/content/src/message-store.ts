/** Channels and their messages in PostgreSQL. Whoever asks is logged in: see the loaders of context.ts. */
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import { createGuardedWrites } from './guarded-writes.ts';
import type { Channel, Message, MessageText } from './message.ts';
import { type StoreParts, type Total, createRows } from './rows-store.ts';

export const CHANNEL_SORTING: Sorting<'NAME'> = {
  columns: { NAME: { column: 'name', type: 'text' } },
  default: { field: 'NAME', direction: 'ASC' },
};

/** Ids sort by the time of making, more exactly than the second that `createdAt` tells. */
export const MESSAGE_SORTING: Sorting<'ID'> = {
  columns: { ID: { column: 'id', type: 'text' } },
  default: { field: 'ID', direction: 'DESC' },
};

const CHANNELS = { table: 'channels', where: [] };
const MESSAGES = { table: 'messages', where: [] };

export function createChannelStore({ prisma }: StoreParts) {
  const rows = createRows<Channel>(prisma);
  return {
    findByIds: (ids: readonly string[]): Promise<Channel[]> => rows.findByIds(CHANNELS, ids),
    list: (window: Window): Promise<Channel[]> => rows.page({ ...CHANNELS, window }),
    count: (): Promise<number> => rows.total(CHANNELS),
  };
}

export function createMessageStore({ prisma, createId, clock, findDeleted }: StoreParts) {
  const rows = createRows<Message>(prisma);
  const writes = createGuardedWrites<Message, MessageText>({
    noun: 'message',
    clock,
    find: (where) => prisma.message.findMany({ where }),
    update: (args) => prisma.message.updateManyAndReturn(args),
    remove: (where) => prisma.message.deleteMany({ where }),
    findDeleted,
  });

  return {
    findByIds: (ids: readonly string[]): Promise<Message[]> => rows.findByIds(MESSAGES, ids),

    listByChannels: (channelIds: readonly string[], window: Window): Promise<Message[]> =>
      rows.pages({ ...MESSAGES, window }, { by: 'channelId', keys: channelIds }),

    countByChannels: (channelIds: readonly string[]): Promise<Total[]> => rows.totals(MESSAGES, { by: 'channelId', keys: channelIds }),

    create(message: Pick<Message, 'channelId' | 'authorId' | 'body'>): Promise<Message> {
      const now = clock();
      return prisma.message.create({ data: { id: createId('msg'), ...message, createdAt: now, updatedAt: now } });
    },

    ...writes,
  };
}
