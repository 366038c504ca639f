/** The rules of messages: visible to all callers who are logged in (contract §3). Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { allowChange } from '../access.ts';

export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** The fields of a message that may change; a new message also has a channel. */
export type MessageBody = Pick<Message, 'body'>;

/** Throws FORBIDDEN unless the caller is the author or an administrator. */
export function allowMessageChange(caller: Caller, { authorId }: Message): void {
  allowChange(caller, { noun: 'message', ownerId: authorId, overseer: 'ADMIN' });
}

/** Parses the body of a message. Throws VALIDATION_ERROR. */
export function parseMessageBody({ body }: MessageBody): MessageBody {
  rejectFaults(checkString(body, { field: 'body', ...lengthOf('UpdateMessageInput.body') }));
  return { body };
}
