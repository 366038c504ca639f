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
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
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
