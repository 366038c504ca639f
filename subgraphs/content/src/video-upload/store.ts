/** Resumable uploads of videos in PostgreSQL. Every process sees the same offset, and only one of two writes at one offset succeeds. */
import { sql } from '@trestle/chassis/database/sql';
import type { StoreOptions } from '@trestle/chassis/stores/row-store';
import { fail } from '@trestle/schema/errors';
import type { Prisma } from '../generated/prisma/client.ts';
import { type NewUpload, UPLOAD_FILES, type UploadLimits, type VideoUpload } from './rules.ts';

/** Bytes of an unfinished upload: from `start` on, in the file `fileKey`. */
export interface UploadPart {
  readonly uploadId: string;
  readonly start: number;
  readonly size: number;
  readonly fileKey: string;
}

export type VideoUploadStore = ReturnType<typeof createVideoUploadStore>;

const NO_ROOM_RETRY_SECONDS = 60;

export function createVideoUploadStore({ prisma, clock, createId }: StoreOptions<Prisma.TransactionClient>) {
  const { videoUpload: uploads, videoUploadPart: parts } = prisma;
  const unexpired = () => ({ expiresAt: { gt: clock() } });
  return {
    /** Creates an upload, in a transaction of the caller. Throws BUSINESS_RULE_VIOLATION or SERVICE_UNAVAILABLE beyond the limits. */
    async create({ hasDirect, ...upload }: NewUpload, limits: UploadLimits): Promise<VideoUpload> {
      // Two requests at once must not both find room for one more.
      await prisma.$executeRaw(sql`SELECT pg_advisory_xact_lock(hashtext('video_uploads'))`);
      const now = clock();
      const [taken = { own: 0, bytes: 0 }] = await prisma.$queryRaw<{ own: number; bytes: number }[]>(sql`
        SELECT (count(*) FILTER (WHERE "ownerId" = ${upload.ownerId}))::int AS "own", coalesce(sum("size"), 0)::float8 AS "bytes"
        FROM "video_uploads" WHERE "videoId" IS NULL AND "expiresAt" > ${now}::timestamptz`);
      if (taken.own >= limits.perAccount) throw tooMany(limits.perAccount);
      if (taken.bytes + upload.size > limits.totalBytes) throw noRoom();
      const expiresAt = new Date(now.getTime() + limits.expireAfterSeconds * 1000);
      const directKey = hasDirect ? UPLOAD_FILES + createId('fil') : null;
      return uploads.create({ data: { ...upload, id: createId('upl'), directKey, createdAt: now, expiresAt } });
    },

    /** Returns an upload of the account that has not expired; null without one. */
    findOwn: (id: string, ownerId: string): Promise<VideoUpload | null> => uploads.findFirst({ where: { id, ownerId, ...unexpired() } }),

    /** Returns an upload that has not expired, of any account; null without one. */
    find: (id: string): Promise<VideoUpload | null> => uploads.findFirst({ where: { id, ...unexpired() } }),

    /** Locks an upload until the transaction ends, and returns it. */
    async lock(id: string): Promise<VideoUpload | null> {
      await prisma.$queryRaw(sql`SELECT "id" FROM "video_uploads" WHERE "id" = ${id} FOR UPDATE`);
      return uploads.findUnique({ where: { id } });
    },

    countParts: (uploadId: string): Promise<number> => parts.count({ where: { uploadId } }),

    /** Returns the files of the parts, in their order. */
    async findPartKeys(uploadId: string): Promise<string[]> {
      const found = await parts.findMany({ where: { uploadId }, orderBy: { start: 'asc' }, select: { fileKey: true } });
      return found.map(({ fileKey }) => fileKey);
    },

    /** Adds a part at the current offset, in a transaction of the caller. Resolves with false when the offset is another one by now. */
    async addPart({ uploadId, start, size, fileKey }: UploadPart): Promise<boolean> {
      const where = { id: uploadId, offset: start, videoId: null, ...unexpired() };
      const { count } = await uploads.updateMany({ where, data: { offset: start + size } });
      if (count > 0) await parts.create({ data: { uploadId, start, fileKey } });
      return count > 0;
    },

    /** Records the video, and forgets the parts, in a transaction of the caller. */
    async finish({ id, size }: VideoUpload, videoId: string): Promise<void> {
      await parts.deleteMany({ where: { uploadId: id } });
      await uploads.update({ where: { id }, data: { offset: size, videoId, directKey: null } });
    },

    /** Deletes an upload with its parts, whose files the sweep deletes, if it has these values. Resolves with whether there was one. */
    delete: async (where: Pick<VideoUpload, 'id'> & Partial<Pick<VideoUpload, 'ownerId' | 'offset' | 'videoId'>>): Promise<boolean> =>
      (await uploads.deleteMany({ where: { ...where, ...unexpired() } })).count > 0,

    /** Returns those of the keys of files that uploads name. */
    async findFileKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
      const named = { in: [...keys] };
      const found = await parts.findMany({ where: { fileKey: named }, select: { fileKey: true } });
      const direct = await uploads.findMany({ where: { directKey: named }, select: { directKey: true } });
      return new Set([...found.map(({ fileKey }) => fileKey), ...direct.map(({ directKey }) => directKey ?? '')]);
    },

    /** Deletes uploads that have expired also by the clock of the database: a process whose clock is ahead must not delete those of all others. */
    async sweep(): Promise<void> {
      await prisma.$executeRaw(sql`DELETE FROM "video_uploads" WHERE "expiresAt" <= least(${clock()}::timestamptz, now())`);
    },
  };
}

function tooMany(limit: number): Error {
  return fail(
    'BUSINESS_RULE_VIOLATION',
    `The account has ${String(limit)} unfinished uploads, which is the limit. Finish or delete one of them.`,
  );
}

function noRoom(): Error {
  return fail('SERVICE_UNAVAILABLE', 'The unfinished uploads of all accounts leave no room for another one. Retry later.', {
    retryAfterSeconds: NO_ROOM_RETRY_SECONDS,
  });
}
