/** Channels in PostgreSQL. Callers are logged in: see loaders.ts. */
import type { Sorting } from '@trestle/chassis/paging/window';
import { type RowStore, type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Channel } from './rules.ts';

export const CHANNEL_SORTING: Sorting<'NAME'> = {
  list: 'channels',
  columns: { NAME: { column: 'name', type: 'text' } },
  default: { field: 'NAME', direction: 'ASC' },
};

const CHANNELS = { table: 'channels', where: [] };

export type ChannelStore = ReturnType<typeof createChannelStore>;

export function createChannelStore({ prisma }: Pick<StoreOptions<Prisma.TransactionClient>, 'prisma'>) {
  const rows: RowStore<Channel, void, 'NAME'> = createRowStore({ prisma, sorting: CHANNEL_SORTING, rowsOf: () => CHANNELS });
  return rows;
}
