/** Who learns of the deletion of a post and its comments (contract §2, §3): callers who saw them, and nobody else. Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import type { PostStatus } from './post/rules.ts';
import { type TestContent, callerOf, openTestContent } from './test-content.ts';

let content: TestContent;

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
});
afterAll(() => content.close());

const CALLERS: Readonly<Record<string, Caller | undefined>> = {
  anonymous: undefined,
  'the author of the post': callerOf('usr_author'),
  'the author of the comment': callerOf('usr_commenter'),
  'a moderator': callerOf('usr_moderator', 'MODERATOR'),
  'an administrator': callerOf('usr_admin', 'ADMIN'),
  'an application of the author': createTestCaller({ userId: 'usr_author', scopes: new Set(['comments:write']) }),
};
const STATUSES = ['DRAFT', 'PUBLISHED', 'ARCHIVED'] as const;

/** Creates a post with a comment of another account. */
async function createPair(status: PostStatus): Promise<{ readonly post: string; readonly comment: string }> {
  const { id: post } = await content.createPost('usr_author', { status });
  const comment = await content.stores.comments.create({ postId: post, authorId: 'usr_commenter', body: 'Hi' }, 'all');
  return { post, comment: comment?.id ?? '' };
}

const eventsOf = (subject: string) =>
  content.prisma.$queryRaw`SELECT "type", "audience", "ownerId", "data" FROM "outbox" WHERE "subject" = ${subject} ORDER BY "position"`;

describe.each(STATUSES)('the deletion of a post with the status %s', (status) => {
  it.each(Object.keys(CALLERS))('is GONE for those who saw the post, and unknown to others: %s', async (name) => {
    const caller = CALLERS[name];
    const { post, comment } = await createPair(status);
    const read = () =>
      content.run<Record<string, object | null>>(`{ post(id: "${post}") { id } comment(id: "${comment}") { id } }`, {
        ...(caller && { caller }),
      });
    const before = await read();
    await content.stores.posts.delete(post, undefined);
    const { data, codes } = await read();
    expect(before.codes).toEqual({});
    expect(data).toEqual({ post: null, comment: null });
    expect(codes).toEqual({
      ...(before.data['post'] && { post: 'GONE' }),
      ...(before.data['comment'] && { comment: 'GONE' }),
    });
  });

  it('is reported to those who saw its comments', async () => {
    const { post, comment } = await createPair(status);
    await content.stores.posts.delete(post, undefined);
    const isPublic = status === 'PUBLISHED';
    const readers = { audience: isPublic ? 'PUBLIC' : 'OWNER', ownerId: isPublic ? 'usr_commenter' : 'usr_author' };
    expect(await eventsOf(comment)).toEqual([
      { type: 'comment.created', ...readers, data: { postId: post, version: 1 } },
      { type: 'comment.deleted', ...readers, data: { postId: post, version: 1 } },
    ]);
  });
});

it('reports the deletion of a comment alone to those who see its post', async () => {
  const { comment } = await createPair('ARCHIVED');
  await content.stores.comments.delete(comment, undefined);
  expect(await eventsOf(comment)).toMatchObject([
    { type: 'comment.created', audience: 'OWNER', ownerId: 'usr_author' },
    { type: 'comment.deleted', audience: 'OWNER', ownerId: 'usr_author' },
  ]);
});

describe('the deletion of a comment whose post is hidden later', () => {
  const codeOf = async (comment: string, caller?: Caller) =>
    (await content.run(`{ comment(id: "${comment}") { id } }`, { ...(caller && { caller }) })).codes['comment'];

  it('is unknown to those who do not see the post, also after its deletion, and GONE for its author', async () => {
    const { post, comment } = await createPair('PUBLISHED');
    await content.stores.comments.delete(comment, undefined);
    expect(await codeOf(comment)).toBe('GONE');
    await content.prisma.post.update({ where: { id: post }, data: { status: 'ARCHIVED' } });
    expect([await codeOf(comment), await codeOf(comment, CALLERS['the author of the post'])]).toEqual([undefined, 'GONE']);
    await content.stores.posts.delete(post, undefined);
    expect([await codeOf(comment), await codeOf(comment, CALLERS['the author of the post'])]).toEqual([undefined, 'GONE']);
  });
});

describe('User.post', () => {
  it('is GONE below the author of a deleted post, and null below another account', async () => {
    const { post } = await createPair('PUBLISHED');
    await content.stores.posts.delete(post, undefined);
    const document = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on User { post(id: "${post}") { id } } } }`;
    const of = ['usr_author', 'usr_commenter'].map((id) => ({ __typename: 'User', id }));
    const { data, codes } = await content.run(document, { variables: { of } });
    expect(data).toEqual({ _entities: [{ post: null }, { post: null }] });
    expect(codes).toEqual({ '_entities.0.post': 'GONE' });
  });
});
