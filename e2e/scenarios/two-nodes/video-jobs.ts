/** Videos that are uploaded and published through whichever process answers. */
import { until } from '../../stack/clients/client.ts';
import { sendFiles } from '../../stack/clients/multipart.ts';
import type { Account, Stack } from '../../stack/stack.ts';
import { toMp4 } from '../publish-video/video-files.ts';

const UPLOAD = 'mutation($title: String!, $file: Upload!) { uploadVideo(title: $title, file: $file) { id } }';

/** Uploads so many videos and returns their ids. */
export function uploadVideos(stack: Stack, { token }: Account, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const variables = { title: `Video ${String(at)}`, file: null };
      const { body } = await sendFiles(stack.gateway, { query: UPLOAD, variables, files: { file: toMp4(7, 1_000_000) }, token });
      return (body.data?.['uploadVideo'] as { id: string }).id;
    }),
  );
}

interface Published {
  readonly id: string;
  readonly status: string;
  /** One for each change: uploaded, publishing, published. */
  readonly version: number;
}

/** Resolves with their rows when all are published. */
export async function untilPublished(stack: Stack, ids: readonly string[]): Promise<Published[]> {
  const read = () => stack.sql<Published>('content', 'SELECT id, status::text, version FROM videos WHERE id = ANY($1)', [ids]);
  await until(async () => {
    const rows = await read();
    return rows.length === ids.length && rows.every(({ status }) => status === 'PUBLISHED');
  });
  return read();
}
