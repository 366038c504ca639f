/** The rules of channels and their messages: for whoever is logged in (contract §3). Pure: no database, no clock. */
import { checkText } from '@trestle/chassis/values/text';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { allowChange } from './rights.ts';

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly topic: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** What may change of a message, and what a new one needs besides its channel. */
export type MessageText = Pick<Message, 'body'>;

/** Throws FORBIDDEN unless the caller is the author or an administrator. */
export function allowMessageChange(caller: Caller, { authorId }: Message): void {
  allowChange(caller, { noun: 'message', ownerId: authorId, overseer: 'ADMIN' });
}

/** Reads what a message says. Throws VALIDATION_ERROR. */
export function readMessageText({ body }: MessageText): MessageText {
  rejectFaults(checkText(body, { field: 'body', ...lengthOf('UpdateMessageInput.body') }));
  return { body };
}
