/** The settings of the files of a process, to be spread into its own config.ts, and the store that they give. */
import { resolve } from 'node:path';
import { SettingsError, type readSettings, setting } from '@trestle/env';
import type { FileStore } from './file-store.ts';
import { createLocalStore } from './local-store.ts';

/** Declares the settings. */
export const fileSettings = {
  FILES_DIR: setting.string().default('.trestle/files'),
  FILES_SWEEP_AFTER_SECONDS: setting.integer(1, 604_800).default(3600),
  S3_BUCKET: setting.string().optional(),
  S3_REGION: setting.string().default('us-east-1'),
  S3_ENDPOINT: setting.url('http:', 'https:').optional(),
  S3_ACCESS_KEY_ID: setting.string().optional(),
  S3_SECRET_ACCESS_KEY: setting.string().optional(),
};

/** The values of these settings. */
export type FileSettings = ReturnType<typeof readSettings<typeof fileSettings>>;

/** Logs a warning when files can be swept before the request that brings them has ended: the row that it commits would name a file that does not exist. */
export function warnOfEarlySweep(
  {
    FILES_SWEEP_AFTER_SECONDS,
    UPLOAD_TIMEOUT_MS,
  }: Pick<FileSettings, 'FILES_SWEEP_AFTER_SECONDS'> & { readonly UPLOAD_TIMEOUT_MS: number },
  log: { readonly warn: (message: string) => void },
): void {
  if (FILES_SWEEP_AFTER_SECONDS * 1000 <= UPLOAD_TIMEOUT_MS)
    log.warn('FILES_SWEEP_AFTER_SECONDS must exceed UPLOAD_TIMEOUT_MS: files of requests that are still being received can be deleted');
}

/**
 * Opens the store of a process: in `S3_BUCKET`, or else in a folder of `FILES_DIR`; `owner` names the process, whose files are apart from
 * those of others. Throws a SettingsError when only one half of the credentials is set.
 */
export async function openFileStore(settings: Omit<FileSettings, 'FILES_SWEEP_AFTER_SECONDS'>, owner: string): Promise<FileStore> {
  const { S3_BUCKET: bucket, S3_REGION: region, S3_ENDPOINT: endpoint } = settings;
  if (bucket === undefined) return createLocalStore(resolve(settings.FILES_DIR, owner));
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new SettingsError('Invalid settings:\n  S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: must both be set, or neither');
  const credentials = accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
  const { createS3Store } = await import('./s3-store.ts');
  return createS3Store({ bucket, region, endpoint, credentials, prefix: `${owner}/` });
}
