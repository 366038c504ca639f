/** The rules of resumable uploads of videos (ADR 27). Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import { tooLarge } from '@trestle/files/file-store';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';

/** A row of an upload. */
export interface VideoUpload {
  readonly id: string;
  readonly ownerId: string;
  readonly title: string;
  /** Declared, in bytes. */
  readonly size: number;
  /** How many bytes are stored. It equals `size` exactly when there is a video. */
  readonly offset: number;
  /** Declared, in hexadecimal digits. */
  readonly sha256: string | null;
  /** Where the client may store the whole content itself. */
  readonly directKey: string | null;
  readonly videoId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The columns of a new upload. */
export interface NewUpload extends Pick<VideoUpload, 'ownerId' | 'title' | 'size' | 'sha256'> {
  /** Whether the client may store the content itself. */
  readonly hasDirect: boolean;
}

/** The keys of unfinished content in the file store begin with it. */
export const UPLOAD_FILES = 'uploads/';

/** How much unfinished uploads may take. */
export interface UploadLimits {
  /** The most bytes of one file. */
  readonly maxBytes: number;
  /** The most unfinished uploads of one account. */
  readonly perAccount: number;
  /** The most bytes that all unfinished uploads have declared. */
  readonly totalBytes: number;
  readonly expireAfterSeconds: number;
}

/** Parses what a client declares. Throws VALIDATION_ERROR or PAYLOAD_TOO_LARGE. */
export function parseNewUpload(
  { title, size, sha256 }: { readonly title: string; readonly size: number; readonly sha256?: string | null | undefined },
  { maxBytes }: Pick<UploadLimits, 'maxBytes'>,
): Pick<NewUpload, 'title' | 'size' | 'sha256'> {
  const digest = sha256?.toLowerCase() ?? null;
  rejectFaults([
    ...checkString(title, { field: 'title', ...lengthOf('CreateVideoUploadInput.title') }),
    ...faultsOf(size >= 1, { field: 'size', message: 'must be at least 1' }),
    ...faultsOf(digest === null || /^[0-9a-f]{64}$/.test(digest), { field: 'sha256', message: 'must have 64 hexadecimal digits' }),
  ]);
  if (size > maxBytes) throw tooLarge(maxBytes);
  return { title, size, sha256: digest };
}

function faultsOf(isValid: boolean, fault: FieldFault): FieldFault[] {
  return isValid ? [] : [fault];
}
