/** The settings of the content process. */
import { databaseSetting, watcherSettings } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';
import { fileSettings } from '@trestle/files/settings';
import type { UploadLimits } from './video-upload/rules.ts';

export function readConfig() {
  return readSettings(
    {
      ...watcherSettings,
      ...fileSettings,
      MAX_UPLOAD_BYTES: setting.integer(1024, 2_147_483_647).default(104_857_600),
      UPLOADS_PER_ACCOUNT: setting.integer(1, 1000).default(10),
      UPLOADS_TOTAL_BYTES: setting.integer(1024, 1_000_000_000_000_000).default(10_737_418_240),
      UPLOADS_EXPIRE_AFTER_SECONDS: setting.integer(60, 2_592_000).default(86_400),
      CONTENT_PORT: setting.port().default(4003),
      CONTENT_DATABASE_URL: databaseSetting(),
    },
    process.env,
  );
}

/** Returns how much unfinished uploads may take. */
export function toUploadLimits(config: ReturnType<typeof readConfig>): UploadLimits {
  return {
    maxBytes: config.MAX_UPLOAD_BYTES,
    perAccount: config.UPLOADS_PER_ACCOUNT,
    totalBytes: config.UPLOADS_TOTAL_BYTES,
    expireAfterSeconds: config.UPLOADS_EXPIRE_AFTER_SECONDS,
  };
}

/** Returns the GraphQL address of the users subgraph, which is beside that of its events; undefined when that is not set. */
export function toUsersUrl(config: Pick<ReturnType<typeof readConfig>, 'EVENTS_URL_USERS'>): string | undefined {
  const events = config.EVENTS_URL_USERS;
  return events === undefined ? undefined : new URL('/graphql', events).href;
}
