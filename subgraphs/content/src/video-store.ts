/** Videos' records in PostgreSQL. Who may see a video is part of every statement that reads one. */
import { type Sql, given, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import type { VideoFilter, VideoOrderField } from './generated/resolvers.ts';
import { createGuardedWrites } from './guarded-writes.ts';
import { type Sight, seen } from './rights.ts';
import { type StoreParts, createRows } from './rows-store.ts';
import type { Video, VideoChange } from './video.ts';

export const VIDEO_SORTING: Sorting<VideoOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    TITLE: { column: 'title', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** The videos of a list: those that the filter lets through and somebody may see. */
export interface VideoScope {
  readonly filter: VideoFilter;
  readonly sight: Sight;
}

export function createVideoStore({ prisma, clock, findDeleted }: StoreParts) {
  const rows = createRows<Video>(prisma);
  const writes = createGuardedWrites<Video, VideoChange>({
    noun: 'video',
    clock,
    find: (where) => prisma.video.findMany({ where }),
    update: (args) => prisma.video.updateManyAndReturn(args),
    remove: (where) => prisma.video.deleteMany({ where }),
    findDeleted,
  });

  return {
    findByIds: (ids: readonly string[], sight: Sight): Promise<Video[]> =>
      rows.findByIds({ table: 'videos', where: seen(sight, 'ownerId') }, ids),

    list: (scope: VideoScope, window: Window): Promise<Video[]> => rows.page({ ...within(scope), window }),

    count: (scope: VideoScope): Promise<number> => rows.total(within(scope)),

    ...writes,
  };
}

/** What a filter and a sight let through; each condition is served by an index of its own. */
function within({ filter, sight }: VideoScope): { table: string; where: Sql[] } {
  const where = [
    ...seen(sight, 'ownerId'),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"VideoStatus"`),
    ...given(filter.ownerId, (ownerId) => sql`t."ownerId" = ${ownerId}`),
    ...given(filter.title, (title) => sql`t."title" = ${title}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
  ];
  return { table: 'videos', where };
}
