/** The poster of a video as clients see it. */
import type { FileStore } from '@trestle/files/file-store';
import { fail } from '@trestle/schema/errors';
import type { Video } from '../video/rules.ts';

/** Where a poster is. */
export interface Poster {
  readonly posterKey: string;
  readonly mediaType: string;
}

/** Returns the poster; null for a video without one. It is small, so it is sent within the response; it is read only when it is selected. */
export function toPoster({ posterKey, posterType }: Video): Poster | null {
  return posterKey === null || posterType === null ? null : { posterKey, mediaType: posterType };
}

/** Returns the image as a data URL. Throws NOT_FOUND when the video was published anew meanwhile. */
export async function readPoster(files: Pick<FileStore, 'open'>, { posterKey, mediaType }: Poster): Promise<string> {
  const stream = await files.open(posterKey);
  if (!stream) throw fail('NOT_FOUND', 'The poster does not exist.');
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return `data:${mediaType};base64,${Buffer.concat(chunks).toString('base64')}`;
}
