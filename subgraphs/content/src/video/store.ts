/** Videos' records in PostgreSQL. Every statement that reads videos contains the condition that the caller may see them. */
import { given, sql } from '@trestle/chassis/database/sql';
import type { RowSet } from '@trestle/chassis/paging/page-query';
import type { Sorting } from '@trestle/chassis/paging/window';
import { createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { type Visibility, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { VideoFilter, VideoOrderField } from '../generated/resolvers.ts';
import type { Video, VideoChange } from './rules.ts';

export const VIDEO_SORTING: Sorting<VideoOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    TITLE: { column: 'title', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** The videos of a list: those that match the filter and that the caller may see. */
export interface VideoScope {
  readonly filter: VideoFilter;
  readonly visibility: Visibility;
}

export type VideoStore = ReturnType<typeof createVideoStore>;

export function createVideoStore({ prisma, clock, findDeleted }: DeletingStoreOptions<Prisma.TransactionClient>) {
  const rows = createRowStore<Video, VideoScope, VideoOrderField>({ prisma, sorting: VIDEO_SORTING, rowsOf });
  const resource = { noun: 'video', find: (where: Prisma.VideoWhereInput) => prisma.video.findMany({ where }), findDeleted };

  return {
    ...rows,
    update: createGuardedUpdate<Video, VideoChange>({ ...resource, clock, update: (args) => prisma.video.updateManyAndReturn(args) }),
    delete: createGuardedDelete<Video, true>({
      ...resource,
      remove: async (where) => (await prisma.video.deleteMany({ where })).count > 0 || undefined,
    }),
  };
}

/** Each condition is served by an index of its own. */
function rowsOf({ filter, visibility }: VideoScope): RowSet {
  const where = [
    ...whereVisible(visibility, 'ownerId'),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"VideoStatus"`),
    ...given(filter.ownerId, (ownerId) => sql`t."ownerId" = ${ownerId}`),
    ...given(filter.title, (title) => sql`t."title" = ${title}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
  ];
  return { table: 'videos', where };
}
