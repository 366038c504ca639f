/** Publishes videos: the mutation that asks for it, and the job that reads the content, makes a poster and makes the video visible. */
import type { JobWork } from '@trestle/chassis/jobs/job-work';
import type { Job } from '@trestle/chassis/jobs/job';
import { requireCaller } from '@trestle/chassis/request/context';
import { afterCheck } from '@trestle/chassis/stores/after-check';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { FileStore } from '@trestle/files/file-store';
import type { ContentContext } from '../context.ts';
import type { MutationPublishVideoArgs } from '../generated/resolvers.ts';
import type { ContentStores } from '../stores.ts';
import { allowVideoChange } from '../video/rules.ts';
import { readMediaInThread } from './media-thread.ts';
import { missing } from './read-media.ts';
import { renderPoster } from './render-poster.ts';

/** The keys of posters in the file store begin with it. */
export const POSTER_FILES = 'posters/';
const MAX_POSTER_BYTES = 1024 * 1024;

/**
 * Marks the video and enqueues its job in one transaction. A video that is being published has a job already, which is returned. Throws
 * UNAUTHORIZED, NOT_FOUND, GONE, FORBIDDEN, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION.
 */
export async function publishVideo(args: MutationPublishVideoArgs, context: ContentContext, info: MutationCall['info']): Promise<Job> {
  const { id, expectedVersions } = args;
  const publish = ({ together }: Pick<ContentStores, 'together'>) =>
    together(async ({ videos, jobs }) => {
      await videos.lock(id);
      const [current] = await jobs.findOpen(id);
      if (current) return current;
      const { ownerId } = await videos.beginPublishing(id, expectedVersions);
      // The account of the video also sees the job when an administrator asked for it: its own request returns that job.
      return jobs.enqueue({ kind: 'PUBLISH_VIDEO', input: { videoId: id }, ownerId, subjectId: id });
    });
  return context.write({ args, info }, await afterCheck(checkPublishing(id, context), publish));
}

async function checkPublishing(id: string, context: ContentContext): Promise<void> {
  const caller = requireCaller(context);
  allowVideoChange(caller, await context.loaders.video.need(id));
}

/** Creates the work of the jobs. */
export function createPublishing({ files, stores }: { files: FileStore; stores: ContentStores }): JobWork<ContentStores> {
  return {
    async run({ id: jobId, input, attempts }, { signal, report }) {
      const videoId = String(input['videoId']);
      const [video] = await stores.videos.findByIds([videoId], { filter: {}, visibility: 'all' });
      const { fileKey = null, size = null } = video ?? {};
      if (!video || fileKey === null || size === null) throw missing();
      const media = await readMediaInThread(files, { key: fileKey, size }, { signal });
      await report(50);
      const { durationSeconds, mediaType } = media;
      const poster = media.cover ?? (await renderPoster({ title: video.title, durationSeconds }));
      // A key of this attempt: what an attempt that is not the last one has stored is swept.
      const posterKey = `${POSTER_FILES}${jobId}-${String(attempts)}`;
      await files.put(posterKey, toStream(poster.bytes), { maxBytes: MAX_POSTER_BYTES, signal });
      return {
        result: { videoId, mediaType, durationSeconds, poster: poster.type },
        write: async ({ videos }) => {
          await videos.endPublishing(videoId, { status: 'PUBLISHED', durationSeconds, mediaType, posterKey, posterType: poster.type });
        },
      };
    },
    abandon: async ({ input }, { videos }) => {
      await videos.endPublishing(String(input['videoId']), { status: 'FAILED' });
    },
    resume: async ({ input }, { videos }) => {
      await videos.beginPublishing(String(input['videoId']), null);
    },
  };
}

async function* toStream(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}
