/** Videos' records in PostgreSQL. Every statement that reads videos contains the condition that the caller may see them. */
import { given, sql } from '@trestle/chassis/database/sql';
import type { RowSet } from '@trestle/chassis/paging/page-query';
import type { Sorting } from '@trestle/chassis/paging/window';
import type { ExpectedVersions } from '@trestle/chassis/request/faults';
import { type WriteRule, createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { NamedFile } from '@trestle/chassis/server/file-endpoint';
import { type Visibility, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { VideoFilter, VideoOrderField } from '../generated/resolvers.ts';
import type { NewVideo, Video, VideoChange, VideoEnd, VideoStatus } from './rules.ts';

export const VIDEO_SORTING: Sorting<VideoOrderField> = {
  list: 'videos',
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

interface StatusRule {
  readonly status: { readonly in: VideoStatus[] };
}

const PUBLISHABLE: WriteRule<StatusRule> = {
  where: { status: { in: ['UPLOADED', 'FAILED'] } },
  otherwise: 'Only uploaded videos, and those whose publishing failed, can be published.',
};

export type VideoStore = ReturnType<typeof createVideoStore>;

export function createVideoStore({ prisma, clock, createId, findDeleted }: DeletingStoreOptions<Prisma.TransactionClient>) {
  const rows = createRowStore<Video, VideoScope, VideoOrderField>({ prisma, sorting: VIDEO_SORTING, rowsOf });
  const resource = { noun: 'video', find: (where: Prisma.VideoWhereInput) => prisma.video.findMany({ where }), findDeleted };

  const setStatus = createGuardedUpdate<Video, Pick<Video, 'status'>, StatusRule>({
    ...resource,
    clock,
    update: (args) => prisma.video.updateManyAndReturn(args),
  });

  return {
    ...rows,

    /** Returns the file of a video, without regard to who may see it; undefined without one. */
    async findFile(id: string): Promise<NamedFile | undefined> {
      const { fileKey = null, size = null, sha256 = null } = (await prisma.video.findUnique({ where: { id } })) ?? {};
      return fileKey === null || size === null || sha256 === null ? undefined : { key: fileKey, size, sha256 };
    },

    /** Returns those of the keys of files that videos name. */
    async findFileKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
      const named = { in: [...keys] };
      const where = { OR: [{ fileKey: named }, { posterKey: named }] };
      const found = await prisma.video.findMany({ where, select: { fileKey: true, posterKey: true } });
      return new Set(found.flatMap(({ fileKey, posterKey }) => [fileKey ?? [], posterKey ?? []].flat()));
    },

    create(video: NewVideo): Promise<Video> {
      const now = clock();
      return prisma.video.create({ data: { ...video, id: createId('vid'), createdAt: now, updatedAt: now } });
    },

    /** Locks a video until the transaction ends. */
    async lock(id: string): Promise<void> {
      await prisma.$queryRaw(sql`SELECT "id" FROM "videos" WHERE "id" = ${id} FOR NO KEY UPDATE`);
    },

    /** Marks an uploaded video, or one whose publishing failed. Throws PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
    beginPublishing: (id: string, expectedVersions: ExpectedVersions): Promise<Video> =>
      setStatus(id, { status: 'PUBLISHING' }, { expectedVersions, rule: PUBLISHABLE }),

    /** Ends the publishing of a video; does nothing for one that was deleted meanwhile. */
    async endPublishing(id: string, end: VideoEnd): Promise<void> {
      const data = { ...end, updatedAt: clock(), version: { increment: 1 } };
      await prisma.video.updateMany({ where: { id, status: 'PUBLISHING' }, data });
    },

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
