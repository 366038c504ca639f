/** Comments in PostgreSQL. Who may see the post is part of every statement that reads its comments or adds one. */
import { given, join, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import type { Comment, CommentText } from './comment.ts';
import type { CommentFilter, CommentOrderField } from './generated/resolvers.ts';
import { createGuardedWrites } from './guarded-writes.ts';
import { type Sight, seen } from './rights.ts';
import { type Rows, type StoreParts, type Total, createRows } from './rows-store.ts';

export const COMMENT_SORTING: Sorting<CommentOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'ID', direction: 'ASC' },
};

/** The comments of a list: those that the filter lets through, on posts that somebody may see. */
export interface CommentScope {
  readonly filter: CommentFilter;
  readonly sight: Sight;
}

export function createCommentStore({ prisma, createId, clock, findDeleted }: StoreParts) {
  const rows = createRows<Comment>(prisma);
  const writes = createGuardedWrites<Comment, CommentText>({
    noun: 'comment',
    clock,
    find: (where) => prisma.comment.findMany({ where }),
    update: (args) => prisma.comment.updateManyAndReturn(args),
    remove: (where) => prisma.comment.deleteMany({ where }),
    findDeleted,
  });

  return {
    findByIds: (ids: readonly string[], sight: Sight): Promise<Comment[]> => rows.findByIds(within({ sight, filter: {} }), ids),

    list: (scope: CommentScope, window: Window): Promise<Comment[]> => rows.page({ ...within(scope), window }),

    count: (scope: CommentScope): Promise<number> => rows.total(within(scope)),

    listByPosts: (postIds: readonly string[], scope: CommentScope, window: Window): Promise<Comment[]> =>
      rows.pages({ ...within(scope), window }, { by: 'postId', keys: postIds }),

    countByPosts: (postIds: readonly string[], scope: CommentScope): Promise<Total[]> =>
      rows.totals(within(scope, postIds), { by: 'postId', keys: postIds }),

    /** Gives null when there is no such post to see; the lock keeps it from being deleted in between. */
    async create({ postId, authorId, body }: Pick<Comment, 'postId' | 'authorId' | 'body'>, sight: Sight): Promise<Comment | null> {
      const now = clock();
      const post = join([sql`t."id" = ${postId}`, ...seen(sight, 'authorId')], ' AND ');
      const [comment] = await prisma.$queryRaw<Comment[]>`
        INSERT INTO "comments" ("id", "postId", "authorId", "body", "createdAt", "updatedAt")
        SELECT ${createId('cmt')}, t."id", ${authorId}, ${body}, ${now}::timestamptz, ${now}::timestamptz
        FROM "posts" t WHERE ${post} FOR KEY SHARE
        RETURNING *`;
      return comment ?? null;
    },

    ...writes,
  };
}

/**
 * What a filter lets through of the comments whose posts can be seen. To count them the posts are named a second time, else PostgreSQL
 * may look through all posts there are; pages go post by post and look only at that one as it is.
 */
function within({ sight, filter }: CommentScope, postIds?: readonly string[]): Rows {
  const asked = given(postIds, (ids) => sql`t."id" = ANY(${ids}::text[])`);
  const visible = seen(sight, 'authorId').map((rule) => {
    return sql`t."postId" IN (SELECT t."id" FROM "posts" t WHERE ${join([rule, ...asked], ' AND ')})`;
  });
  const where = [
    ...visible,
    ...given(filter.postId, (postId) => sql`t."postId" = ${postId}`),
    ...given(filter.authorId, (authorId) => sql`t."authorId" = ${authorId}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
  const [search] = given(filter.search, (words) => sql`to_tsvector('english', t."body") @@ websearch_to_tsquery('english', ${words})`);
  return { table: 'comments', where, search };
}
