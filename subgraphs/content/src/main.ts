/** The content process. */
import type { Query } from '@trestle/chassis/database/query';
import { createJobControl } from '@trestle/chassis/jobs/job-control';
import type { SubgraphJobs } from '@trestle/chassis/jobs/job-work';
import { startJobWorker } from '@trestle/chassis/jobs/worker';
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import { FILES_PATH, createFileEndpoint } from '@trestle/chassis/server/file-endpoint';
import { readSweepTime } from '@trestle/chassis/server/sweep-time';
import type { Sweep } from '@trestle/chassis/server/sweeps';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { openFileStore, warnOfEarlySweep } from '@trestle/files/settings';
import { type SweepOptions, sweepFiles } from '@trestle/files/sweep-files';
import { readConfig, toUploadLimits, toUsersUrl } from './config.ts';
import { createContentContext } from './context.ts';
import { POSTS_KEYS } from './post/store.ts';
import { POSTER_FILES, createPublishing } from './publishing/publish-video.ts';
import { resolvers } from './resolvers.ts';
import { startIndexing } from './search/indexing.ts';
import { type ContentStores, openContentStores } from './stores.ts';
import { createTopics } from './topics.ts';
import { UPLOADS_PATH, createUploadEndpoint } from './video-upload/endpoint.ts';
import { UPLOAD_FILES } from './video-upload/rules.ts';
import { VIDEO_FILES } from './video/rules.ts';

const config = readConfig();
const { CLIENT_ID_KEY_FILE: ticketKey } = config;
const files = await openFileStore(config, 'content');

await runSubgraph({
  name: 'content',
  port: config.CONTENT_PORT,
  databaseUrl: config.CONTENT_DATABASE_URL,
  settings: config,
  create: ({ database, log }) => {
    warnOfEarlySweep(config, log);
    const createId = createIds({ now: Date.now });
    const { idempotency, transact, close } = openContentStores({ database, createId, clock: systemClock });
    const { stores } = idempotency;
    const jobs: SubgraphJobs<ContentStores> = { works: { PUBLISH_VIDEO: createPublishing({ files, stores }) }, transact, stores };
    const dependencies = { files, jobControl: createJobControl(jobs), uploadLimits: toUploadLimits(config) };
    return {
      resolvers,
      createContext: (request) => createContentContext(request, idempotency, dependencies),
      topics: createTopics(stores),
      endpoints: {
        [FILES_PATH]: createFileEndpoint({ files, ticketKey, find: (id) => stores.videos.findFile(id), log }),
        [UPLOADS_PATH]: createUploadEndpoint({ files, stores, transact, createId, ticketKey, log }),
      },
      uploads: { files, prefix: VIDEO_FILES, maxBytes: config.MAX_UPLOAD_BYTES, createId: () => createId('fil') },
      startJobs: (worker) => startJobWorker({ ...worker, jobs }),
      startConsumers: (options) => startIndexing({ ...options, database, log, usersUrl: toUsersUrl(config) }),
      lateIndexes: [POSTS_KEYS],
      sweeps: [idempotency.sweep, stores.jobs.sweep, () => stores.uploads.sweep(), ...sweepsOfFiles(stores, database.query)],
      async close() {
        files.close();
        await close();
      },
    };
  },
});

/** Returns the sweeps of files that no row names. */
function sweepsOfFiles({ videos, uploads }: ContentStores, query: Query): Sweep[] {
  const sweepFrom = (prefix: string, findUsed: SweepOptions['findUsed']) => async () => {
    const before = await readSweepTime(query, config.FILES_SWEEP_AFTER_SECONDS);
    await sweepFiles({ files, prefix, findUsed, before });
  };
  const ofVideos = [VIDEO_FILES, POSTER_FILES].map((prefix) => sweepFrom(prefix, (keys) => videos.findFileKeys(keys)));
  return [...ofVideos, sweepFrom(UPLOAD_FILES, (keys) => uploads.findFileKeys(keys))];
}
