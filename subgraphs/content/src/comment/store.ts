/** Comments in PostgreSQL. Every statement that reads or inserts comments contains the condition that the caller may see their post. */
import { all, given, sql } from '@trestle/chassis/database/sql';
import type { RowSet } from '@trestle/chassis/paging/page-query';
import type { Sorting } from '@trestle/chassis/paging/window';
import { createGuardedDelete, createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type DeletingStoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { type Visibility, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { CommentFilter, CommentOrderField } from '../generated/resolvers.ts';
import type { Comment, CommentBody } from './rules.ts';

export const COMMENT_SORTING: Sorting<CommentOrderField> = {
  list: 'comments',
  columns: {
    ID: { column: 'id', type: 'text' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'ID', direction: 'ASC' },
};

/** The comments of a list: those that match the filter, on posts that the caller may see. */
export interface CommentScope {
  readonly filter: CommentFilter;
  readonly visibility: Visibility;
}

export type CommentStore = ReturnType<typeof createCommentStore>;

export function createCommentStore({ prisma, createId, clock, findDeleted }: DeletingStoreOptions<Prisma.TransactionClient>) {
  const rows = createRowStore<Comment, CommentScope, CommentOrderField>({ prisma, sorting: COMMENT_SORTING, rowsOf });
  const resource = { noun: 'comment', find: (where: Prisma.CommentWhereInput) => prisma.comment.findMany({ where }), findDeleted };

  return {
    ...rows,

    /** Returns null when there is no such post that the caller may see. The lock keeps the post from being deleted meanwhile. */
    async create(
      { postId, authorId, body }: Pick<Comment, 'postId' | 'authorId' | 'body'>,
      visibility: Visibility,
    ): Promise<Comment | null> {
      const now = clock();
      const post = all([sql`t."id" = ${postId}`, ...whereVisible(visibility, 'authorId')]);
      const [comment] = await prisma.$queryRaw<Comment[]>`
        INSERT INTO "comments" ("id", "postId", "authorId", "body", "createdAt", "updatedAt")
        SELECT ${createId('cmt')}, t."id", ${authorId}, ${body}, ${now}::timestamptz, ${now}::timestamptz
        FROM "posts" t WHERE ${post} FOR KEY SHARE
        RETURNING *`;
      return comment ?? null;
    },

    update: createGuardedUpdate<Comment, CommentBody>({ ...resource, clock, update: (args) => prisma.comment.updateManyAndReturn(args) }),
    delete: createGuardedDelete<Comment, true>({
      ...resource,
      remove: async (where) => (await prisma.comment.deleteMany({ where })).count > 0 || undefined,
    }),
  };
}

/**
 * To count comments, their posts are named a second time; otherwise PostgreSQL may scan all posts. Pages are read post by post and need
 * no such condition.
 */
function rowsOf({ visibility, filter }: CommentScope, postIds?: readonly string[]): RowSet {
  const counted = given(postIds, (ids) => sql`t."id" = ANY(${ids}::text[])`);
  const ofVisiblePosts = whereVisible(visibility, 'authorId').map((condition) => {
    return sql`t."postId" IN (SELECT t."id" FROM "posts" t WHERE ${all([condition, ...counted])})`;
  });
  const where = [
    ...ofVisiblePosts,
    ...given(filter.postId, (postId) => sql`t."postId" = ${postId}`),
    ...given(filter.authorId, (authorId) => sql`t."authorId" = ${authorId}`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
  // A blank search filters nothing, as in other lists.
  const search = filter.search?.trim() === '' ? null : filter.search;
  const [condition] = given(search, (words) => sql`to_tsvector('english', t."body") @@ websearch_to_tsquery('english', ${words})`);
  return { table: 'comments', where, search: condition && { condition } };
}
