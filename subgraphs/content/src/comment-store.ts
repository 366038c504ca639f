/** Comments in PostgreSQL. Who may see the post is part of every statement that reads its comments or adds one. */
import { type Sql, given, join, sql } from '@trestle/chassis/page-query';
import type { Window } from '@trestle/chassis/window';
import type { Comment, CommentText } from './comment.ts';
import { createGuardedWrites } from './guarded-writes.ts';
import { type Sight, seen } from './rights.ts';
import { type StoreParts, type Total, createRows } from './rows-store.ts';

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
    findByIds: (ids: readonly string[], sight: Sight): Promise<Comment[]> => rows.findByIds(within(sight), ids),

    listByPosts: (postIds: readonly string[], sight: Sight, window: Window): Promise<Comment[]> =>
      rows.pages({ ...within(sight), window }, { by: 'postId', keys: postIds }),

    countByPosts: (postIds: readonly string[], sight: Sight): Promise<Total[]> =>
      rows.totals(within(sight, postIds), { by: 'postId', keys: postIds }),

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
 * The comments whose posts can be seen. To count them the posts are named a second time, else PostgreSQL may look through all posts there
 * are; pages go post by post and look only at that one as it is.
 */
function within(sight: Sight, postIds?: readonly string[]): { table: string; where: Sql[] } {
  const asked = given(postIds, (ids) => sql`t."id" = ANY(${ids}::text[])`);
  const where = seen(sight, 'authorId').map((visible) => {
    return sql`t."postId" IN (SELECT t."id" FROM "posts" t WHERE ${join([visible, ...asked], ' AND ')})`;
  });
  return { table: 'comments', where };
}
