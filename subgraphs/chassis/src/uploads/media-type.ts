/** Recognizes what a file is by its content. What the client says of it is not used. */
import { fail } from '@trestle/schema/errors';
import { fileTypeFromBuffer } from 'file-type';
import type { UploadedFile } from './uploaded-file.ts';

/** Resolves with the media type of a file when it is one of `accepted`. Rejects with UNSUPPORTED_MEDIA_TYPE otherwise. */
export async function recognizeMediaType({ head }: Pick<UploadedFile, 'head'>, accepted: readonly string[]): Promise<string> {
  // A file that is cut off in its first bytes is none of any type.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found && accepted.includes(found.mime)) return found.mime;
  throw fail('UNSUPPORTED_MEDIA_TYPE', `The content of the file must be ${accepted.join(', ')}.`);
}
