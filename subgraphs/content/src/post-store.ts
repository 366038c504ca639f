/** Posts in PostgreSQL. Who may see a post is part of every statement that reads one. */
import { type Sql, given, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import type { PostFilter, PostOrderField } from './generated/resolvers.ts';
import { type ExpectedVersions, createGuardedWrites } from './guarded-writes.ts';
import { type NewPost, POST_STATUSES, type Post, type PostChange, type PostStatus, statusesBefore } from './post.ts';
import { type Sight, seen } from './rights.ts';
import { type Rows, type StoreParts, type Total, createRows } from './rows-store.ts';

export const POST_SORTING: Sorting<PostOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    TITLE: { column: 'title', type: 'text' },
    STATUS: { column: 'status', type: '"PostStatus"', values: POST_STATUSES },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** The posts of a list: those that the filter lets through and somebody may see. */
export interface PostScope {
  readonly filter: PostFilter;
  readonly sight: Sight;
}

export function createPostStore({ prisma, createId, clock, findDeleted }: StoreParts) {
  const rows = createRows<Post>(prisma);
  const writes = createGuardedWrites<Post, PostChange, { status: { in: PostStatus[] } }>({
    noun: 'post',
    clock,
    find: (where) => prisma.post.findMany({ where }),
    update: ({ where, data: { tags, ...data } }) =>
      prisma.post.updateManyAndReturn({ where, data: { ...data, ...(tags && { tags: [...tags] }) } }),
    remove: (where) => prisma.post.deleteMany({ where }),
    findDeleted,
  });

  return {
    findByIds: (ids: readonly string[], sight: Sight): Promise<Post[]> =>
      rows.findByIds({ table: 'posts', where: seen(sight, 'authorId') }, ids),

    list: (scope: PostScope, window: Window): Promise<Post[]> => rows.page({ ...within(scope), window }),

    count: (scope: PostScope): Promise<number> => rows.total(within(scope)),

    listByAuthors: (authorIds: readonly string[], scope: PostScope, window: Window): Promise<Post[]> =>
      rows.pages({ ...within(scope), window }, { by: 'authorId', keys: authorIds }),

    countByAuthors: (authorIds: readonly string[], scope: PostScope): Promise<Total[]> =>
      rows.totals(within(scope), { by: 'authorId', keys: authorIds }),

    create(authorId: string, { tags, ...post }: NewPost): Promise<Post> {
      const now = clock();
      return prisma.post.create({ data: { id: createId('pst'), authorId, ...post, tags: [...tags], createdAt: now, updatedAt: now } });
    },

    /**
     * A new state is a condition of the statement itself, so that of two steps at once only a right one happens; to stay is no change.
     * Throws GONE, NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION, and then has changed nothing.
     */
    update(post: Post, { status, ...change }: PostChange, expectedVersions: ExpectedVersions): Promise<Post> {
      if (status === undefined) return writes.update(post.id, change, { expectedVersions });
      const rule = { where: { status: { in: statusesBefore(status) } }, otherwise: 'A post goes from draft to published to archived' };
      return writes.update(post.id, status === post.status ? change : { ...change, status }, { expectedVersions, rule });
    },

    /** Deletes its comments too. Throws PRECONDITION_FAILED or NOT_FOUND. */
    delete: writes.delete,
  };
}

/** What a filter and a sight let through; each condition is served by an index of its own. */
function within({ filter, sight }: PostScope): Rows {
  const where = [
    ...seen(sight, 'authorId'),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"PostStatus"`),
    ...given(filter.tag, (tag) => sql`t."tags" @> ARRAY[${tag}]::text[]`),
    ...given(filter.authorId, (authorId) => sql`t."authorId" = ${authorId}`),
    ...given(filter.title, (title) => sql`t."title" = ${title}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
  const [search] = given(
    filter.search,
    (words) => sql`to_tsvector('english', ${searched(filter)}) @@ websearch_to_tsquery('english', ${words})`,
  );
  return { table: 'posts', where, search };
}

/** The text to search, written as in the index that serves it. */
function searched({ searchIn }: PostFilter): Sql {
  const fields = new Set(searchIn);
  if (fields.size !== 1) return sql`t."title" || ' ' || t."body"`;
  return fields.has('TITLE') ? sql`t."title"` : sql`t."body"`;
}
