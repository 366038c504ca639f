/** Who may see what (contract §3): hidden content is in no lookup, list or total. Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { type Post, type PostStatus } from './post/rules.ts';
import { type TestContent, callerOf, openTestContent } from './test-content.ts';

let content: TestContent;

const CALLERS: Record<string, Caller | undefined> = {
  anonymous: undefined,
  author: callerOf('usr_author'),
  other: callerOf('usr_other'),
  moderator: callerOf('usr_moderator', 'MODERATOR'),
  administrator: callerOf('usr_admin', 'ADMIN'),
  // What an author and an administrator have allowed an application.
  'application-of-author': createTestCaller({ userId: 'usr_author', scopes: new Set(['comments:write', 'messages:read']) }),
  'application-of-administrator': createTestCaller({
    ...{ userId: 'usr_admin', role: 'ADMIN', scopes: new Set(['comments:write', 'messages:read']) },
  }),
};
const names = Object.keys(CALLERS);
const runAs = <Data>(name: string, document: string, variables: Record<string, unknown> = {}) => {
  const caller = CALLERS[name];
  return content.run<Data>(document, { variables, ...(caller && { caller }) });
};

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
});
afterAll(() => content.close());

describe('posts and their comments', () => {
  const posts = {} as Record<PostStatus, Post>;
  const comments = {} as Record<PostStatus, string>;
  const statuses = ['DRAFT', 'PUBLISHED', 'ARCHIVED'] as const;
  const insiders = ['author', 'moderator', 'administrator'];

  beforeAll(async () => {
    for (const status of statuses) {
      const post = await content.createPost('usr_author', { status, body: 'word' });
      const comment = await content.stores.comments.create({ postId: post.id, authorId: 'usr_other', body: 'Hi' }, 'all');
      posts[status] = post;
      comments[status] = comment?.id ?? '';
    }
  });

  it.each(names.flatMap((name) => statuses.map((status) => [name, status] as const)))(
    'are found by callers who may see them: %s, %s',
    async (name, status) => {
      const visible = status === 'PUBLISHED' || insiders.includes(name);
      const variables = {
        id: posts[status].id,
        comment: comments[status],
        refs: [
          { __typename: 'Post', id: posts[status].id },
          { __typename: 'Comment', id: comments[status] },
        ],
      };
      const { data, codes } = await runAs<Record<string, unknown>>(
        name,
        `query ($id: ID!, $comment: ID!, $refs: [_Any!]!) {
          post(id: $id) { id comments { totalCount } }
          comment(id: $comment) { id post { id } }
          _entities(representations: $refs) { ... on Post { id } ... on Comment { id } }
        }`,
        variables,
      );
      const post = { id: posts[status].id };
      const comment = { id: comments[status] };
      expect(codes).toEqual({});
      expect(data).toEqual({
        post: visible ? { ...post, comments: { totalCount: 1 } } : null,
        comment: visible ? { ...comment, post } : null,
        _entities: visible ? [post, comment] : [null, null],
      });
    },
  );

  it.each(names)('are listed and counted for callers who may see them: %s', async (name) => {
    const expected = insiders.includes(name) ? statuses.map((status) => posts[status].id) : [posts.PUBLISHED.id];
    const connection = 'totalCount edges { node { id } }';
    const { data } = await runAs<{
      all: Page;
      found: Page;
      drafts: Page;
      _entities: [{ posts: { id: string }[]; postsConnection: Page; others: Page }];
    }>(
      name,
      `query ($refs: [_Any!]!) {
        all: postsConnection { ${connection} }
        found: postsConnection(filter: { search: "word", authorId: "usr_author" }) { ${connection} }
        drafts: postsConnection(filter: { status: DRAFT }) { ${connection} }
        _entities(representations: $refs) { ... on User {
          posts { id }
          postsConnection { ${connection} }
          others: postsConnection(filter: { authorId: "usr_other" }) { ${connection} }
        } }
      }`,
      { refs: [{ __typename: 'User', id: 'usr_author' }] },
    );
    const [user] = data._entities;
    for (const page of [data.all, data.found, user.postsConnection]) {
      expect(page.edges.map(({ node }) => node.id).sort()).toEqual(expected);
      expect(page.totalCount).toBe(expected.length);
    }
    expect(user.posts.map(({ id }) => id).sort()).toEqual(expected);
    expect(data.drafts.totalCount).toBe(insiders.includes(name) ? 1 : 0);
    expect(user.others).toEqual({ totalCount: 0, edges: [] });
  });

  it.each(names.slice(1))('accept comments of callers who may see them: %s', async (name) => {
    for (const status of statuses) {
      const { codes } = await runAs(name, `mutation ($id: ID!) { createComment(input: { postId: $id, body: "Hi" }) { id } }`, {
        id: posts[status].id,
      });
      expect(codes).toEqual(status === 'PUBLISHED' || insiders.includes(name) ? {} : { createComment: 'NOT_FOUND' });
    }
  });
});

describe('videos', () => {
  it.each(names)('are found by their owner and administrators before they are published: %s', async (name) => {
    const ids: string[] = [];
    await content.prisma.video.deleteMany();
    for (const status of ['UPLOADED', 'PUBLISHING', 'PUBLISHED', 'FAILED'] as const) {
      const video = { id: content.createId('vid'), ownerId: 'usr_author', title: status, status };
      ids.push((await content.prisma.video.create({ data: video })).id);
    }
    const expected = ['author', 'administrator'].includes(name) ? ids : ids.slice(2, 3);
    const { data } = await runAs<{ videosConnection: Page; _entities: ({ id: string } | null)[] }>(
      name,
      'query ($refs: [_Any!]!) { videosConnection { totalCount edges { node { id } } } _entities(representations: $refs) { ... on Video { id } } }',
      { refs: ids.map((id) => ({ __typename: 'Video', id })) },
    );
    expect(data.videosConnection.edges.map(({ node }) => node.id).sort()).toEqual(expected);
    expect(data.videosConnection.totalCount).toBe(expected.length);
    expect(data._entities.flatMap((video) => video?.id ?? [])).toEqual(expected);
    const { data: one } = await runAs(name, `{ video(id: "${ids[0] ?? ''}") { id } }`);
    expect(one).toEqual({ video: expected.includes(ids[0] ?? '') ? { id: ids[0] } : null });
  });
});

describe('channels and messages', () => {
  it.each(names)('are found by callers who are logged in: %s', async (name) => {
    const channel = await content.prisma.channel.create({ data: { id: content.createId('chn'), name: `channel-${name}` } });
    const message = await content.stores.messages.create({ channelId: channel.id, authorId: 'usr_author', body: 'Hi' });
    const { data, codes } = await runAs(
      name,
      `query ($refs: [_Any!]!) {
        channel(id: "${channel.id}") { name }
        message(id: "${message.id}") { body }
        _entities(representations: $refs) { ... on Channel { name } ... on Message { body } }
      }`,
      {
        refs: [
          { __typename: 'Channel', id: channel.id },
          { __typename: 'Message', id: message.id },
        ],
      },
    );
    if (name === 'anonymous') {
      expect(data).toEqual({ channel: null, message: null, _entities: [null, null] });
      expect(codes).toEqual({ channel: 'UNAUTHORIZED', message: 'UNAUTHORIZED' });
    } else {
      const [asChannel, asMessage] = [{ name: channel.name }, { body: 'Hi' }];
      expect({ data, codes }).toEqual({ data: { channel: asChannel, message: asMessage, _entities: [asChannel, asMessage] }, codes: {} });
    }
  });
});

interface Page {
  readonly totalCount: number;
  readonly edges: readonly { readonly node: { readonly id: string } }[];
}
