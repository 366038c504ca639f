/** The rules of comments (contract §3). Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import type { Caller } from '@trestle/identity';
import { rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { allowChange } from '../access.ts';

/** A comment is visible to callers who may see its post. */
export interface Comment {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** The fields of a comment that may change; a new comment also has a post. */
export type CommentBody = Pick<Comment, 'body'>;

/** Throws FORBIDDEN unless the caller is the author, a moderator or an administrator. */
export function allowCommentChange(caller: Caller, { authorId }: Comment): void {
  allowChange(caller, { noun: 'comment', ownerId: authorId, overseer: 'MODERATOR' });
}

/** Parses the body of a comment. Throws VALIDATION_ERROR. */
export function parseCommentBody({ body }: CommentBody): CommentBody {
  rejectFaults(checkString(body, { field: 'body', ...lengthOf('UpdateCommentInput.body') }));
  return { body };
}
