/** Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PostFilter } from '../generated/resolvers.ts';
import { type TestContent, openTestContent } from '../test-content.ts';

let content: TestContent;
let now = new Date('2026-01-01T00:00:00Z');

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL'], { clock: () => now });
});
afterAll(() => content.close());

const ALL = { filter: {}, visibility: 'all' } as const;
const codesOf = (outcomes: readonly PromiseSettledResult<unknown>[]): string[] =>
  outcomes.map((each) => (each.status === 'fulfilled' ? 'done' : (each.reason as { code: string }).code)).sort();

describe('a change of a post', () => {
  it('succeeds for one of twenty with the same expected version', async () => {
    const post = await content.createPost('usr_a');
    const { posts } = content.stores;
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => posts.update(post, { title: `T${String(i)}` }, [1])));
    expect(codesOf(outcomes)).toEqual([...Array<string>(19).fill('PRECONDITION_FAILED'), 'done']);
    expect((await posts.findByIds([post.id], ALL))[0]).toMatchObject({ version: 2 });
  });

  it('of the status is an allowed transition or none, also with concurrent ones', async () => {
    const draft = await content.createPost('usr_a', { status: 'DRAFT' });
    const { posts } = content.stores;
    const archive = await Promise.allSettled([posts.update(draft, { status: 'ARCHIVED' }, undefined)]);
    expect(codesOf(archive)).toEqual(['BUSINESS_RULE_VIOLATION']);
    const published = await posts.update(draft, { status: 'PUBLISHED' }, undefined);
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => posts.update(published, { status: 'ARCHIVED' }, [2])),
      ...Array.from({ length: 5 }, () => posts.update(published, { status: 'DRAFT' }, undefined)),
    ]);
    expect(codesOf(outcomes)).toEqual([
      ...Array<string>(5).fill('BUSINESS_RULE_VIOLATION'),
      ...Array<string>(4).fill('PRECONDITION_FAILED'),
      'done',
    ]);
  });

  it('to the same status changes nothing, and still checks the version', async () => {
    const post = await content.createPost('usr_a');
    const { posts } = content.stores;
    expect(await posts.update(post, { status: 'PUBLISHED' }, [1])).toMatchObject({ version: 1 });
    await posts.update(post, { status: 'ARCHIVED' }, undefined);
    await expect(posts.update(post, { status: 'PUBLISHED' }, undefined)).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
  });

  it('increments version and updatedAt, and an empty one neither', async () => {
    const post = await content.createPost('usr_a');
    now = new Date('2026-03-01T00:00:00Z');
    const { posts } = content.stores;
    expect(await posts.update(post, {}, [1])).toEqual(post);
    expect(await posts.update(post, { title: 'New', tags: ['a'] }, [7, 1])).toEqual({
      ...post,
      title: 'New',
      tags: ['a'],
      version: 2,
      updatedAt: now,
    });
    await expect(posts.update(post, {}, [1])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(posts.update(post, { title: 'X' }, [])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
  });
});

describe('a deletion of a post', () => {
  it('succeeds once, deletes the comments, and leaves a tombstone for each', async () => {
    const { posts, comments, findDeleted } = content.stores;
    const post = await content.createPost('usr_a');
    const say = async () => (await comments.create({ postId: post.id, authorId: 'usr_b', body: 'Hi' }, 'all'))?.id ?? '';
    const ids = [post.id, await say(), await say()];
    await expect(posts.delete(post.id, [9])).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    const before = await content.countStatements();
    await posts.delete(post.id, [1]);
    expect((await content.countStatements()) - before).toBe(1);
    expect(await comments.findByIds(ids, ALL)).toEqual([]);
    expect((await findDeleted([...ids, 'pst_never'])).map(({ id }) => id).sort()).toEqual([...ids].sort());
    await expect(posts.delete(post.id, undefined)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(posts.update(post, { title: 'X' }, undefined)).rejects.toMatchObject({ code: 'GONE' });
    await expect(posts.update({ ...post, id: 'pst_never' }, { title: 'X' }, undefined)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('leaves no comment without a post, and none without a tombstone, even of comments created at the same time', async () => {
    const { posts, comments, findDeleted } = content.stores;
    for (let round = 0; round < 10; round++) {
      const { id } = await content.createPost('usr_a');
      const said = Array.from({ length: 8 }, () => comments.create({ postId: id, authorId: 'usr_b', body: 'Hi' }, 'all'));
      await posts.delete(id, undefined);
      const ids = (await Promise.all(said)).flatMap((comment) => (comment ? [comment.id] : []));
      expect(await comments.findByIds(ids, ALL)).toEqual([]);
      expect(await findDeleted(ids)).toHaveLength(ids.length);
    }
  });
});

describe('a filter of posts', () => {
  const titles = async (filter: PostFilter, author = 'usr_f'): Promise<string> => {
    const { data } = await content.run<{ postsConnection: { edges: { node: { title: string } }[]; totalCount: number } }>(
      `query ($filter: PostFilter) { postsConnection(first: 100, filter: $filter, orderBy: { field: TITLE }) { edges { node { title } } totalCount } }`,
      { variables: { filter: { authorId: author, ...filter } } },
    );
    const found = data.postsConnection.edges.map(({ node }) => node.title);
    expect(data.postsConnection.totalCount).toBe(found.length);
    return found.join();
  };

  beforeAll(async () => {
    const day = (number: number) => new Date(Date.UTC(2026, 0, number));
    await content.createPost('usr_f', { title: 'a bridge', body: 'Dogs are running', tags: ['animal', 'news'], createdAt: day(1) });
    await content.createPost('usr_f', { title: 'b dog', body: 'Crossed the bridges quickly', tags: ['animal'], createdAt: day(2) });
    await content.createPost('usr_f', { title: 'c', body: 'Nothing at all', createdAt: day(3) });
  });

  it('matches the tag in any case', async () => {
    expect(await titles({ tag: 'ANIMAL' })).toBe('a bridge,b dog');
    expect(await titles({ tag: ' news ' })).toBe('a bridge');
    expect(await titles({ tag: 'ani' })).toBe('');
  });

  it('compares author, title, status and times', async () => {
    expect(await titles({ title: 'c' })).toBe('c');
    expect(await titles({ title: 'C' })).toBe('');
    expect(await titles({ status: 'PUBLISHED' })).toBe('a bridge,b dog,c');
    expect(await titles({ status: 'ARCHIVED' })).toBe('');
    expect(await titles({}, 'usr_nobody')).toBe('');
    const at = (text: string) => text as unknown as Date;
    expect(await titles({ createdAtGte: at('2026-01-02T00:00:00Z') })).toBe('b dog,c');
    expect(await titles({ createdAtLte: at('2026-01-02T00:00:00Z') })).toBe('a bridge,b dog');
    expect(await titles({ updatedAtGte: at('2099-01-01T00:00:00Z') })).toBe('');
    expect(await titles({ updatedAtLte: at('2099-01-01T00:00:00Z') })).toBe('a bridge,b dog,c');
  });

  it('finds inflected words in the title, in the body, or in both', async () => {
    expect(await titles({ search: 'bridge dog' })).toBe('a bridge,b dog');
    expect(await titles({ search: 'bridge', searchIn: ['TITLE'] })).toBe('a bridge');
    expect(await titles({ search: 'bridge', searchIn: ['BODY'] })).toBe('b dog');
    expect(await titles({ search: 'bridge', searchIn: ['BODY', 'TITLE'] })).toBe('a bridge,b dog');
    expect(await titles({ search: '"dogs are running" or nothing' })).toBe('a bridge,c');
    expect(await titles({ search: 'bridge -run' })).toBe('b dog');
    expect(await titles({ search: `'); DROP TABLE posts; --` })).toBe('');
  });

  it('does not filter by a blank search', async () => {
    expect(await titles({ search: '' })).toBe('a bridge,b dog,c');
    expect(await titles({ search: ' \t' })).toBe('a bridge,b dog,c');
  });

  it('of words is sorted by relevance unless another order is requested, page by page', async () => {
    for (const [title, body] of [
      ['body only', 'relevant words'],
      ['relevant title', 'other words'],
      ['relevant wholly', 'relevant words'],
      ['none', 'irrelevant words'],
    ] as const)
      await content.createPost('usr_r', { title, body });
    const list = async (args: string) => {
      const { data } = await content.run<{ postsConnection: { edges: { cursor: string; node: { title: string } }[] } }>(
        `{ postsConnection(${args}, filter: { search: "relevant", authorId: "usr_r" }) { edges { cursor node { title } } } }`,
      );
      return data.postsConnection.edges;
    };
    const all = await list('first: 100');
    expect(all.map(({ node }) => node.title)).toEqual(['relevant wholly', 'relevant title', 'body only']);
    expect((await list('first: 100, orderBy: { field: TITLE }')).map(({ node }) => node.title)).toEqual([
      ...['body only', 'relevant title', 'relevant wholly'],
    ]);
    const walked = await list('first: 1');
    for (let i = 0; i < 2; i++) walked.push(...(await list(`first: 1, after: "${walked.at(-1)?.cursor ?? ''}"`)));
    expect(walked).toEqual(all);
    expect(await list('last: 2')).toEqual(all.slice(1));
  });

  it('of words finds incomplete words, and refuses a search without words', async () => {
    expect(await titles({ search: 'quic' })).toBe('b dog');
    expect(await titles({ search: 'run or noth' })).toBe('a bridge,c');
    const { codes } = await content.run('{ postsConnection(filter: { search: "-- !" }) { totalCount } }');
    expect(codes).toEqual({ postsConnection: 'VALIDATION_ERROR' });
  });

  it.each([`ts_filter(t."words", '{a}')`, 't."words"'])('of words is served by an index of %s', async (searched) => {
    const [, plan] = await content.prisma.$transaction([
      content.prisma.$executeRaw`SET LOCAL enable_seqscan = off`,
      content.prisma.$queryRawUnsafe<object[]>(`EXPLAIN SELECT t."id" FROM "posts" t WHERE ${searched} @@ search_term('dog', 'english')`),
    ]);
    expect(JSON.stringify(plan)).toContain('posts_keys_idx ');
  });
});
