/** The rules of videos' records (contract §3). Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { type Visibility, allowChange, visibilityOf } from '../access.ts';

export type VideoStatus = 'UPLOADED' | 'PUBLISHING' | 'PUBLISHED' | 'FAILED';

export interface Video {
  readonly id: string;
  readonly ownerId: string;
  readonly title: string;
  readonly status: VideoStatus;
  readonly durationSeconds: number | null;
  /** Where the content is in the file store; null, as the three that describe it, for a video that was recorded before there were files. */
  readonly fileKey: string | null;
  readonly mediaType: string | null;
  /** In bytes. */
  readonly size: number | null;
  /** In hexadecimal digits. */
  readonly sha256: string | null;
  /** Where the poster of a published video is, and its media type. */
  readonly posterKey: string | null;
  readonly posterType: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** The keys of videos' content in the file store begin with it. */
export const VIDEO_FILES = 'videos/';

/** The types that browsers play. */
export const VIDEO_TYPES = ['video/mp4', 'video/webm', 'video/quicktime'] as const;

/** The columns of a new video. */
export interface NewVideo {
  readonly ownerId: string;
  readonly title: string;
  readonly fileKey: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
}

/** Returns what clients see of the content; null for a video without one. */
export function toContent({ id, mediaType, size, sha256 }: Video) {
  if (mediaType === null || size === null || sha256 === null) return null;
  return { mediaType, size, sha256, href: `/v1/videos/${id}/content` };
}

/** The end of publishing. */
export type VideoEnd = { readonly status: 'FAILED' } | ({ readonly status: 'PUBLISHED' } & PublishedFields);

interface PublishedFields {
  readonly durationSeconds: number;
  readonly mediaType: string;
  readonly posterKey: string;
  readonly posterType: string;
}

export type VideoChange = Pick<Video, 'title'>;

/** Published videos are visible to everyone, others to their owner and administrators whose credential is for videos. */
export function videoVisibility(caller: Caller | null): Visibility {
  return visibilityOf(caller, { overseer: 'ADMIN', scopes: ['videos:write'] });
}

/** Throws FORBIDDEN unless the caller is the owner or an administrator. */
export function allowVideoChange(caller: Caller, { ownerId }: Video): void {
  allowChange(caller, { noun: 'video', ownerId, overseer: 'ADMIN' });
}

/** Parses a change. Throws VALIDATION_ERROR. */
export function parseVideoChange({ title }: VideoChange): VideoChange {
  rejectFaults(checkString(title, { field: 'title', ...lengthOf('UpdateVideoInput.title') }));
  return { title };
}
