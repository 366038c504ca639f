/** Posts in PostgreSQL. Every statement that reads posts contains the condition that the caller may see them. */
import type { LateIndex } from '@trestle/chassis/database/late-indexes';
import { given, raw, sql } from '@trestle/chassis/database/sql';
import type { RowSet, Search } from '@trestle/chassis/paging/page-query';
import type { Sorting } from '@trestle/chassis/paging/window';
import type { ExpectedVersions } from '@trestle/chassis/request/faults';
import { selectCandidates } from '@trestle/chassis/search/candidates';
import type { SearchQuery } from '@trestle/chassis/search/query';
import { toScore, toTsquery } from '@trestle/chassis/search/tsquery';
import { createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { type Visibility, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { PostFilter, PostOrderField } from '../generated/resolvers.ts';
import { type NewPost, POST_STATUSES, type Post, type PostChange, type PostStatus, statusesBefore } from './rules.ts';

export const POST_SORTING: Sorting<PostOrderField> = {
  list: 'posts',
  columns: {
    ID: { column: 'id', type: 'text' },
    TITLE: { column: 'title', type: 'text' },
    STATUS: { column: 'status', type: '"PostStatus"', values: POST_STATUSES },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** All columns but the words that are searched. */
const COLUMNS = ['id', 'authorId', 'title', 'body', 'status', 'tags', 'createdAt', 'updatedAt', 'version'] as const;

/** The posts of a list: those that match the filter and that the caller may see. */
export interface PostScope {
  readonly filter: PostFilter;
  /** What `filter.search` means; absent when it is blank, which every post matches. */
  readonly query?: SearchQuery | undefined;
  readonly visibility: Visibility;
}

export type PostStore = ReturnType<typeof createPostStore>;

export function createPostStore({ prisma, createId, clock, findDeleted }: DeletingStoreOptions<Prisma.TransactionClient>) {
  const rows = createRowStore<Post, PostScope, PostOrderField>({ prisma, sorting: POST_SORTING, rowsOf });
  const resource = { noun: 'post', find: (where: Prisma.PostWhereInput) => prisma.post.findMany({ where }), findDeleted };
  const update = createGuardedUpdate<Post, PostChange, { status: { in: PostStatus[] } }>({
    ...resource,
    clock,
    update: ({ where, data: { tags, ...data } }) =>
      prisma.post.updateManyAndReturn({ where, data: { ...data, ...(tags && { tags: [...tags] }) } }),
  });

  return {
    ...rows,

    create(authorId: string, { tags, ...post }: NewPost): Promise<Post> {
      const now = clock();
      return prisma.post.create({ data: { id: createId('pst'), authorId, ...post, tags: [...tags], createdAt: now, updatedAt: now } });
    },

    /**
     * Changes a post. The transition to a new status is a condition of the statement, so that of two concurrent ones only an allowed one
     * succeeds; the same status again is no change. Throws GONE, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION, and then has
     * changed nothing.
     */
    update(post: Post, { status, ...change }: PostChange, expectedVersions: ExpectedVersions): Promise<Post> {
      if (status === undefined) return update(post.id, change, { expectedVersions });
      const otherwise = `The status of the post cannot change to ${status}: it goes from DRAFT to PUBLISHED to ARCHIVED.`;
      const rule = { where: { status: { in: statusesBefore(status) } }, otherwise };
      return update(post.id, status === post.status ? change : { ...change, status }, { expectedVersions, rule });
    },

    /** Deletes a post and its comments; the database leaves the tombstones. Throws PRECONDITION_FAILED or NOT_FOUND. */
    delete: createGuardedDelete<Post, true>({
      ...resource,
      remove: async (where) => (await prisma.post.deleteMany({ where })).count > 0 || undefined,
    }),
  };
}

/** Each condition is served by an index of its own. */
function rowsOf({ filter, query, visibility }: PostScope): RowSet {
  const where = [
    ...whereVisible(visibility, 'authorId'),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"PostStatus"`),
    ...given(filter.tag, (tag) => sql`t."tags" @> ARRAY[${tag}]::text[]`),
    ...given(filter.authorId, (authorId) => sql`t."authorId" = ${authorId}`),
    ...given(filter.title, (title) => sql`t."title" = ${title}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
  return { table: 'posts', columns: COLUMNS, where, search: query && toSearch(query, new Set(filter.searchIn)) };
}

/** The words of titles, as the index has them. */
const TITLE_WORDS = `ts_filter("words", '{a}')`;

/** The index by which posts are searched. */
export const POSTS_KEYS: LateIndex = {
  table: 'posts',
  name: 'posts_keys_idx',
  definition: `USING gin ("words", (${TITLE_WORDS}), search_keys("words", "createdAt")) WITH (gin_pending_list_limit = 64)`,
  replaces: ['posts_words_idx', 'posts_title_words_idx'],
};

/** What is searched: an expression of words, and the weights of those that match. */
export const SEARCHED = {
  ALL: { field: '"words"', weights: '' },
  TITLE: { field: TITLE_WORDS, weights: '' },
  BODY: { field: '"words"', weights: 'B' },
} as const;

function toSearch(query: SearchQuery, searchIn: ReadonlySet<'TITLE' | 'BODY'>): Search {
  const [only] = searchIn.size === 1 ? searchIn : [];
  const { field, weights } = SEARCHED[only ?? 'ALL'];
  const matches = { table: 'posts', fields: [[field]], weights, isMostlyInWords: true };
  return {
    condition: sql`${raw(field)} @@ ${toTsquery(query, { weights })}`,
    score: toScore(query),
    selectMatches: (most) => selectCandidates(query, { ...matches, most }),
    selectNewest: (most) => selectCandidates(query, { ...matches, most, isSorted: true }),
  };
}
