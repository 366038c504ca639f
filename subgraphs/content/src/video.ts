/** The rules of videos' records (contract §3). Pure: no database, no clock. */
import { checkText } from '@trestle/chassis/values/text';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { type Sight, allowChange, sightOf } from './rights.ts';

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

/** Published videos are for everybody, others for their owner and administrators. */
export function videoSight(caller: Caller | null): Sight {
  return sightOf(caller, 'ADMIN');
}

/** Throws FORBIDDEN unless the caller is the owner or an administrator. */
export function allowVideoChange(caller: Caller, { ownerId }: Video): void {
  allowChange(caller, { noun: 'video', ownerId, overseer: 'ADMIN' });
}

/** Reads what to change. Throws VALIDATION_ERROR. */
export function readVideoChange({ title }: VideoChange): VideoChange {
  rejectFaults(checkText(title, { field: 'title', ...lengthOf('UpdateVideoInput.title') }));
  return { title };
}
