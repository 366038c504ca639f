/** The rules of posts (contract §3). Pure: no database, no clock. */
import { checkText } from '@trestle/chassis/values/text';
import { type Caller, hasRole } from '@trestle/identity';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { ID_LENGTH, lengthOf } from '@trestle/schema/lengths';
import { type Sight, allowChange, sightOf } from './rights.ts';
import { checkTags, toTag, toTags } from './tags.ts';

/** In the order of a post's life. */
export const POST_STATUSES = ['DRAFT', 'PUBLISHED', 'ARCHIVED'] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

export interface Post {
  readonly id: string;
  readonly authorId: string;
  readonly title: string;
  readonly body: string;
  readonly status: PostStatus;
  readonly tags: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

export type NewPost = Pick<Post, 'title' | 'body' | 'status' | 'tags'>;

/** What may change of a post; what is absent stays. */
export type PostChange = Partial<NewPost>;

/** A change as a client sends it, where anything may be null. */
export type PostInput = { readonly [Field in keyof NewPost]?: NewPost[Field] | null };

/** Where a post may go from each state: only forward, one step at a time. */
const STEPS = {
  DRAFT: ['PUBLISHED'],
  PUBLISHED: ['ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Record<PostStatus, readonly PostStatus[]>;
const FIRST_STATUSES: readonly PostStatus[] = ['DRAFT', 'PUBLISHED'];

const TITLE = { field: 'title', ...lengthOf('UpdatePostInput.title') };
const BODY = { field: 'body', ...lengthOf('UpdatePostInput.body') };

/** Published posts are for everybody, others for their author, moderators and administrators. */
export function postSight(caller: Caller | null): Sight {
  return sightOf(caller, 'MODERATOR');
}

/** Throws FORBIDDEN unless the caller is the author, a moderator or an administrator. */
export function allowPostChange(caller: Caller, { authorId }: Post): void {
  allowChange(caller, { noun: 'post', ownerId: authorId, overseer: 'MODERATOR' });
}

/** Everybody writes for himself; administrators for anybody. Throws FORBIDDEN, and VALIDATION_ERROR for what is no account's id. */
export function allowPostBy(caller: Caller, authorId: string): void {
  if (caller.userId !== authorId && !hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'You may write posts of your own only');
  rejectFaults(checkText(authorId, { field: 'authorId', min: 1, max: ID_LENGTH.max }));
}

/** The states from which a post may go to this one; to stay is allowed and no change. */
export function statusesBefore(status: PostStatus): PostStatus[] {
  return POST_STATUSES.filter((from) => from === status || (STEPS[from] as readonly PostStatus[]).includes(status));
}

/** Reads a new post. Throws VALIDATION_ERROR that lists every faulty field at once, and BUSINESS_RULE_VIOLATION for a wrong first state. */
export function readNewPost({ title, body = '', status = 'DRAFT', tags = [] }: Pick<Post, 'title'> & Partial<NewPost>): NewPost {
  rejectFaults([...checkText(title, TITLE), ...checkText(body, BODY), ...checkTags(tags)]);
  if (!FIRST_STATUSES.includes(status)) throw fail('BUSINESS_RULE_VIOLATION', 'A new post is a draft or published');
  return { title, body, status, tags: toTags(tags) };
}

/** Reads what to change. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readPostChange({ title, body, status, tags }: PostInput): PostChange {
  rejectFaults([
    ...(title === undefined ? [] : checkText(title, TITLE)),
    ...(body === undefined ? [] : body === null ? [{ field: 'body', message: 'must not be null' }] : checkText(body, BODY)),
    ...(status === null ? [{ field: 'status', message: 'must not be null' }] : []),
    ...(tags === undefined ? [] : checkTags(tags)),
  ]);
  return { ...(title != null && { title }), ...(body != null && { body }), ...(status && { status }), ...(tags && { tags: toTags(tags) }) };
}

/** Reads a filter: the tag is compared as tags are kept. */
export function readPostFilter<Filter extends { readonly tag?: string | null }>(filter: Filter): Filter {
  return filter.tag == null ? filter : { ...filter, tag: toTag(filter.tag) };
}
