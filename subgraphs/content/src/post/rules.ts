/** The rules of posts (contract §3). Pure: no database, no clock. */
import { type SearchQuery, parseSearchQuery } from '@trestle/chassis/search/query';
import { checkString } from '@trestle/chassis/values/strings';
import { type Caller, hasRole } from '@trestle/identity';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { ID_LENGTH, lengthOf } from '@trestle/schema/lengths';
import { type Visibility, allowChange, visibilityOf } from '../access.ts';
import { checkTags, toTag, toTags } from './tags.ts';

/** In the order in which a post passes through them. */
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

/** The fields of a post that change; absent ones stay. */
export type PostChange = Partial<NewPost>;

/** A change as a client sends it. */
export type PostInput = { readonly [Field in keyof NewPost]?: NewPost[Field] | null };

/** The transitions from each status: only forward, one step at a time (contract §3). */
const STEPS = {
  DRAFT: ['PUBLISHED'],
  PUBLISHED: ['ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Record<PostStatus, readonly PostStatus[]>;
const FIRST_STATUSES: readonly PostStatus[] = ['DRAFT', 'PUBLISHED'];

const TITLE = { field: 'title', ...lengthOf('UpdatePostInput.title') };
const BODY = { field: 'body', ...lengthOf('UpdatePostInput.body') };

/** Published posts are visible to everyone, others to their author, moderators and administrators whose credential is for posts. */
export function postVisibility(caller: Caller | null): Visibility {
  return visibilityOf(caller, { overseer: 'MODERATOR', scopes: ['posts:read', 'posts:write'] });
}

/** Throws FORBIDDEN unless the caller is the author, a moderator or an administrator. */
export function allowPostChange(caller: Caller, { authorId }: Post): void {
  allowChange(caller, { noun: 'post', ownerId: authorId, overseer: 'MODERATOR' });
}

/** Callers create posts of their own, administrators for any account. Throws FORBIDDEN, or VALIDATION_ERROR for an invalid id. */
export function allowPostBy(caller: Caller, authorId: string): void {
  if (caller.userId !== authorId && !hasRole(caller, 'ADMIN'))
    throw fail('FORBIDDEN', 'Creating a post for another account requires the role ADMIN.');
  rejectFaults(checkString(authorId, { field: 'authorId', min: 1, max: ID_LENGTH.max }));
}

/** Returns the statuses from which a post may change to this one, and this one itself. */
export function statusesBefore(status: PostStatus): PostStatus[] {
  return POST_STATUSES.filter((from) => from === status || (STEPS[from] as readonly PostStatus[]).includes(status));
}

/** Parses a new post. Throws VALIDATION_ERROR with every fault, or BUSINESS_RULE_VIOLATION for a status that a new post cannot have. */
export function parseNewPost({ title, body = '', status = 'DRAFT', tags = [] }: Pick<Post, 'title'> & Partial<NewPost>): NewPost {
  rejectFaults([...checkString(title, TITLE), ...checkString(body, BODY), ...checkTags(tags)]);
  if (!FIRST_STATUSES.includes(status)) throw fail('BUSINESS_RULE_VIOLATION', 'The status of a new post must be DRAFT or PUBLISHED.');
  return { title, body, status, tags: toTags(tags) };
}

/** Parses a change. Throws VALIDATION_ERROR with every fault. */
export function parsePostChange({ title, body, status, tags }: PostInput): PostChange {
  rejectFaults([
    ...(title === undefined ? [] : checkString(title, TITLE)),
    ...(body === undefined ? [] : body === null ? [{ field: 'body', message: 'must not be null' }] : checkString(body, BODY)),
    ...(status === null ? [{ field: 'status', message: 'must not be null' }] : []),
    ...(tags === undefined ? [] : checkTags(tags)),
  ]);
  return { ...(title != null && { title }), ...(body != null && { body }), ...(status && { status }), ...(tags && { tags: toTags(tags) }) };
}

/** A filter of posts, as far as it needs parsing. */
interface PostFilterInput {
  readonly tag?: string | null;
  readonly search?: string | null;
}

/** Parses a filter: the tag is compared in the form in which tags are stored. Throws VALIDATION_ERROR for a search that cannot be understood. */
export function parsePostFilter<Filter extends PostFilterInput>(filter: Filter): { filter: Filter; query: SearchQuery | undefined } {
  const query = filter.search == null ? undefined : parseSearchQuery(filter.search, 'filter.search');
  return { filter: filter.tag == null ? filter : { ...filter, tag: toTag(filter.tag) }, query };
}
