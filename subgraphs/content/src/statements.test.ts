/** The number of SQL statements of a request depends on its shape, never on its row count. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestContent, callerOf, openTestContent } from './test-content.ts';

let content: TestContent;
const authors = Array.from({ length: 50 }, (_, i) => `usr_${String(i)}`);
let postIds: string[];
let commentIds: string[];
let messageIds: string[];

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
  const { prisma, createId } = content;
  const posts = authors.flatMap((authorId) => Array.from({ length: 6 }, () => ({ id: createId('pst'), authorId, title: 'T' })));
  await prisma.post.createMany({ data: posts.map((post) => ({ ...post, status: 'PUBLISHED' })) });
  const comments = posts.flatMap(({ id: postId }) =>
    Array.from({ length: 4 }, (_, i) => ({ id: createId('cmt'), postId, authorId: `usr_${String(i)}`, body: 'Hi' })),
  );
  await prisma.comment.createMany({ data: comments });
  const channels = ['a', 'b', 'c'].map((name) => ({ id: createId('chn'), name }));
  await prisma.channel.createMany({ data: channels });
  const messages = channels.flatMap(({ id: channelId }) =>
    Array.from({ length: 5 }, () => ({ id: createId('msg'), channelId, authorId: 'usr_0', body: 'Hi' })),
  );
  await prisma.message.createMany({ data: messages });
  postIds = posts.map(({ id }) => id);
  commentIds = comments.map(({ id }) => id);
  messageIds = messages.map(({ id }) => id);
});
afterAll(() => content.close());

async function count(document: string, variables: Record<string, unknown>) {
  const before = await content.countStatements();
  const { data, codes } = await content.run<object>(document, { variables, caller: callerOf('usr_0') });
  expect(codes).toEqual({});
  return { data, statements: (await content.countStatements()) - before };
}

const references = (typename: string, ids: readonly string[]) => ({ refs: ids.map((id) => ({ __typename: typename, id })) });
const entities = (selection: string) => `query ($refs: [_Any!]!) { _entities(representations: $refs) { ${selection} } }`;

it('the posts of 50 accounts with their comments and authors need two statements, like those of one account', async () => {
  const document = entities('... on User { id posts { id title comments { edges { node { body author { id } } } } } }');
  const many = await count(document, references('User', authors));
  const one = await count(document, references('User', authors.slice(0, 1)));
  expect([many.statements, one.statements]).toEqual([2, 2]);
  const { _entities: users } = many.data as { _entities: { posts: { comments: { edges: unknown[] } }[] }[] };
  expect(users.flatMap(({ posts }) => posts.flatMap(({ comments }) => comments.edges))).toHaveLength(50 * 6 * 4);
});

it('totals need one statement for each list, and none when they are not selected', async () => {
  const document = entities(
    '... on User { postsConnection(first: 2) { totalCount edges { node { comments(limit: 1) { totalCount edges { cursor } } } } } }',
  );
  const { statements, data } = await count(document, references('User', authors));
  expect(statements).toBe(4);
  expect((data as { _entities: unknown[] })._entities[7]).toMatchObject({ postsConnection: { totalCount: 6 } });
});

it.each([
  ['posts', 'Post', () => postIds, '... on Post { title author { id } comments { edges { node { post { title } } } } }', 2],
  ['comments', 'Comment', () => commentIds, '... on Comment { body post { title } }', 2],
  ['messages', 'Message', () => messageIds, '... on Message { body channel { name messagesConnection(first: 2) { totalCount } } }', 4],
] as const)('%s by reference are one batch for each level', async (_, typename, ids, selection, statements) => {
  expect((await count(entities(selection), references(typename, ids().slice(0, 1)))).statements).toBe(statements);
  expect((await count(entities(selection), references(typename, ids()))).statements).toBe(statements);
});

it('a list with two sets of arguments needs one statement for each', async () => {
  const document = entities('... on Post { a: comments(limit: 1) { edges { cursor } } b: comments(limit: 2) { edges { cursor } } }');
  expect((await count(document, references('Post', postIds))).statements).toBe(3);
});
