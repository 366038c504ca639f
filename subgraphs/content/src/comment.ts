/** The rules of comments (contract §3). Pure: no database, no clock. */
import { checkText } from '@trestle/chassis/values/text';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { allowChange } from './rights.ts';

/** A comment is seen by whoever sees its post. */
export interface Comment {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** What may change of a comment, and what a new one needs besides its post. */
export type CommentText = Pick<Comment, 'body'>;

/** Throws FORBIDDEN unless the caller is the author, a moderator or an administrator. */
export function allowCommentChange(caller: Caller, { authorId }: Comment): void {
  allowChange(caller, { noun: 'comment', ownerId: authorId, overseer: 'MODERATOR' });
}

/** Reads what a comment says. Throws VALIDATION_ERROR. */
export function readCommentText({ body }: CommentText): CommentText {
  rejectFaults(checkText(body, { field: 'body', ...lengthOf('UpdateCommentInput.body') }));
  return { body };
}
