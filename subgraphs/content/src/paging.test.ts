/** Lists by cursor, against a real PostgreSQL and through the real schema. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Post } from './post/rules.ts';
import { type TestContent, callerOf, openTestContent } from './test-content.ts';

let content: TestContent;

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
});
afterAll(() => content.close());

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
  readonly totalCount: number;
}

const PAGE = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount';
const idsOf = (page: Page): string[] => page.edges.map(({ node }) => node.id);

async function pageOfPosts(args: string): Promise<Page> {
  const { data, codes } = await content.run<{ postsConnection: Page }>(`{ postsConnection(${args}) { ${PAGE} } }`);
  expect(codes).toEqual({});
  return data.postsConnection;
}

/** Reads page after page to the end; `meanwhile` runs after the first. */
async function walk(direction: 'forward' | 'backward', orderBy: string, meanwhile: () => Promise<void> = () => Promise.resolve()) {
  const [count, cursor] = direction === 'forward' ? (['first', 'after'] as const) : (['last', 'before'] as const);
  const ids: string[][] = [];
  for (let at: string | undefined; ;) {
    const page = await pageOfPosts(`${count}: 3, orderBy: [${orderBy}]${at === undefined ? '' : `, ${cursor}: "${at}"`}`);
    ids.push(idsOf(page));
    if (direction === 'forward' ? !page.pageInfo.hasNextPage : !page.pageInfo.hasPreviousPage) break;
    at = direction === 'forward' ? page.pageInfo.endCursor : page.pageInfo.startCursor;
    if (ids.length === 1) await meanwhile();
  }
  return direction === 'forward' ? ids.flat() : ids.reverse().flat();
}

describe('a connection of posts', () => {
  let posts: Post[];
  beforeEach(async () => {
    await content.prisma.post.deleteMany();
    posts = [];
    // Titles and times repeat, so that ties have to be broken.
    for (let i = 0; i < 10; i++)
      posts.push(await content.createPost('usr_a', { title: `T${String(i % 3)}`, createdAt: new Date(Date.UTC(2026, 0, 1 + (i % 4))) }));
  });

  it('is sorted from the newest by default', async () => {
    const byTime = posts.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
    expect(idsOf(await pageOfPosts('first: 100'))).toEqual(byTime.map(({ id }) => id));
  });

  it.each([
    '{ field: CREATED_AT, direction: DESC }',
    '{ field: TITLE }',
    '{ field: TITLE, direction: DESC }, { field: CREATED_AT }',
    '{ field: STATUS }, { field: UPDATED_AT, direction: DESC }',
    '{ field: ID, direction: DESC }',
  ])('returns each post once, in the same order forward and backward: %s', async (orderBy) => {
    const all = idsOf(await pageOfPosts(`first: 100, orderBy: [${orderBy}]`));
    expect([...all].sort()).toEqual(posts.map(({ id }) => id).sort());
    expect(await walk('forward', orderBy)).toEqual(all);
    expect(await walk('backward', orderBy)).toEqual(all);
  });

  it.each(['forward', 'backward'] as const)(
    'keeps its place going %s while posts are created and deleted, even the one of the cursor',
    async (direction) => {
      const orderBy = '{ field: CREATED_AT }';
      const all = idsOf(await pageOfPosts(`first: 100, orderBy: [${orderBy}]`));
      const seenFirst = direction === 'forward' ? all.slice(0, 3) : all.slice(-3);
      const cursorRow = direction === 'forward' ? all[2] : all[7];
      const notYetSeen = direction === 'forward' ? all[5] : all[4];
      const walked = await walk(direction, orderBy, async () => {
        await content.prisma.post.deleteMany({ where: { id: { in: [cursorRow ?? '', notYetSeen ?? ''] } } });
        // Before the window that was seen already, in either direction.
        await content.createPost('usr_a', { createdAt: new Date(Date.UTC(direction === 'forward' ? 2020 : 2030, 0, 1)) });
      });
      expect(walked).toEqual(all.filter((id) => id !== notYetSeen));
      expect(walked).toEqual(expect.arrayContaining(seenFirst));
    },
  );

  it('refuses a cursor of another list with the same sort order', async () => {
    const { endCursor } = (await pageOfPosts('first: 1')).pageInfo;
    for (const [list, code] of [
      ['postsConnection', undefined],
      ['videosConnection', 'VALIDATION_ERROR'],
      ['commentsConnection', 'VALIDATION_ERROR'],
    ] as const) {
      const order = 'orderBy: [{ field: CREATED_AT, direction: DESC }]';
      const { codes } = await content.run(`{ ${list}(${order}, after: "${endCursor}") { totalCount } }`);
      expect([list, codes[list]]).toEqual([list, code]);
    }
  });

  it('skips rows by offset, and says whether there are rows before and after the page', async () => {
    const all = idsOf(await pageOfPosts('first: 100'));
    const page = await pageOfPosts('first: 3, offset: 8');
    expect(idsOf(page)).toEqual(all.slice(8));
    expect(page).toMatchObject({ pageInfo: { hasNextPage: false, hasPreviousPage: true }, totalCount: 10 });
  });
});

describe('Post.comments', () => {
  it('returns the oldest first, after a comment given by cursor or id, even a deleted one', async () => {
    const { id: postId } = await content.createPost('usr_a');
    const ids: string[] = [];
    for (let i = 0; i < 12; i++)
      ids.push((await content.stores.comments.create({ postId, authorId: 'usr_a', body: 'Hi' }, 'all'))?.id ?? '');
    const read = async (args = '') => {
      const { data } = await content.run<{ post: { comments: Page } }>(
        `query ($id: ID!) { post(id: $id) { comments${args} { ${PAGE} } } }`,
        {
          variables: { id: postId },
        },
      );
      return data.post.comments;
    };

    const first = await read();
    expect(idsOf(first)).toEqual(ids.slice(0, 10));
    expect(first).toMatchObject({ pageInfo: { hasNextPage: true, hasPreviousPage: false }, totalCount: 12 });
    expect(idsOf(await read(`(after: "${first.pageInfo.endCursor}")`))).toEqual(ids.slice(10));
    expect(idsOf(await read(`(limit: 2, after: "${ids[3] ?? ''}")`))).toEqual(ids.slice(4, 6));
    await content.stores.comments.delete(ids[3] ?? '', undefined);
    expect(idsOf(await read(`(limit: 2, after: "${ids[3] ?? ''}")`))).toEqual(ids.slice(4, 6));
    expect(await read('(limit: 100)')).toMatchObject({ pageInfo: { hasNextPage: false }, totalCount: 11 });
  });

  it.each(['limit: 0', 'limit: 101', 'after: "nonsense"'])('refuses %s', async (args) => {
    const { id } = await content.createPost('usr_a');
    const { codes } = await content.run(`{ post(id: "${id}") { comments(${args}) { totalCount } } }`);
    expect(codes).toEqual({ 'post.comments': 'VALIDATION_ERROR' });
  });
});

describe('connections of channels and messages', () => {
  it('are sorted by name, and from the newest', async () => {
    const make = (name: string) => content.prisma.channel.create({ data: { id: content.createId('chn'), name } });
    const [random, general] = [await make('random'), await make('general')];
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.unshift((await content.stores.messages.create({ channelId: random.id, authorId: 'usr_a', body: 'Hi' })).id);
    const { data } = await content.run<{ channelsConnection: { edges: { node: { id: string; messagesConnection: Page } }[] } }>(
      `{ channelsConnection { edges { node { id messagesConnection(last: 2) { ${PAGE} } } } } }`,
      { caller: callerOf('usr_a') },
    );
    const channels = data.channelsConnection.edges.map(({ node }) => node);
    expect(channels.map(({ id }) => id)).toEqual([general.id, random.id]);
    expect(channels.map(({ messagesConnection }) => idsOf(messagesConnection))).toEqual([[], ids.slice(3)]);
    expect(channels.map(({ messagesConnection }) => messagesConnection.totalCount)).toEqual([0, 5]);
  });
});
