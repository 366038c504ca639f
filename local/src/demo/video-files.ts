/** Stores the content of the demo videos: one small file, of which every video has a copy. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileStore } from '@trestle/files/file-store';
import { openFileStore } from '@trestle/files/settings';
import type { Config } from '../config.ts';
import { SAMPLE } from './video-sample.ts';

const PATH = fileURLToPath(new URL('../../demo/bridge.mp4', import.meta.url));

/** Stores the content of videos, before the rows that name it are committed. */
export async function storeVideoFiles(files: FileStore, videos: readonly { readonly fileKey: string }[]): Promise<void> {
  for (const { fileKey } of videos) await files.put(fileKey, createReadStream(PATH), { maxBytes: SAMPLE.size });
}

/** Opens the store of the content subgraph, with the settings that its process gets. */
export function openContentFiles({ inherited, DATA_DIR }: Pick<Config, 'inherited' | 'DATA_DIR'>): Promise<FileStore> {
  const { FILES_DIR = join(DATA_DIR, 'files'), S3_REGION = 'us-east-1', ...s3 } = inherited;
  return openFileStore({ ...s3, FILES_DIR, S3_REGION }, 'content');
}
