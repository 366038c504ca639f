/** Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type TestContent, callerOf, openTestContent } from '../test-content.ts';
import { type IndexStore, createIndexStore } from './index-store.ts';

// cspell:ignore Brücken Brücke führt über Fluss nicht befahrbar susp brigde zanzibra suspens

let content: TestContent;
let index: IndexStore;
const ids: Record<string, string> = {};

interface Edge {
  node: { __typename: string; id: string };
  highlights: { field: string; html: string; parts: { text: string; isMatch: boolean }[] }[];
}
interface Page {
  search: { totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string | null }; edges: (Edge | null)[] };
}
const SELECTION = `totalCount pageInfo { hasNextPage endCursor }
  edges { cursor node { __typename ... on Post { id } ... on Comment { id } ... on User { id } } highlights { field html parts { text isMatch } } }`;
const ask = (query: string, args: Record<string, unknown> = {}) =>
  content.run<Page>(
    `query ($query: String!, $types: [SearchType!], $first: Int, $last: Int, $after: String, $before: String, $offset: Int) {
      search(query: $query, types: $types, first: $first, last: $last, after: $after, before: $before, offset: $offset) { ${SELECTION} } }`,
    { variables: { query, first: args['last'] === undefined ? 100 : undefined, ...args }, caller: callerOf('usr_author') },
  );
const nameOf = (id: string) => Object.entries(ids).find(([, known]) => known === id)?.[0] ?? id;
const find = async (query: string, args: Record<string, unknown> = {}) => {
  const { data, codes } = await ask(query, args);
  expect(codes).toEqual({});
  return data.search.edges.map((edge) => (edge ? nameOf(edge.node.id) : 'null'));
};
const codeOf = async (query: string, args: Record<string, unknown> = {}) => (await ask(query, args)).codes['search'];

async function createPost(name: string, post: { title: string; body?: string; status?: 'DRAFT' | 'PUBLISHED' }) {
  ids[name] = (await content.createPost('usr_author', post)).id;
}
async function createComment(name: string, post: string, body: string) {
  ids[name] = (
    await content.prisma.comment.create({ data: { id: content.createId('cmt'), postId: ids[post] ?? '', authorId: 'usr_a', body } })
  ).id;
}

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
  index = createIndexStore(content.prisma);
  await createPost('title', { title: 'Suspension bridges of the world', body: 'How cables carry them' });
  await createPost('body', { title: 'Rivers', body: 'Every river needs a bridge, and the people are running to it' });
  await createPost('german', { title: 'Die Brücken', body: 'Die Brücke führt über den Fluss und ist nicht mit dem Auto befahrbar' });
  await createPost('draft', { title: 'Secret bridge', status: 'DRAFT' });
  await createPost('markup', { title: 'Posting <b>bold</b> & "brash"', body: `<script>alert('zebra')</script> \u{E000}zebra\u{E001}` });
  await createComment('comment', 'body', 'I walked over that bridge');
  await createComment('hidden', 'draft', 'A bridge in secret');
  await index.writePosts(Object.values(ids).filter((id) => id.startsWith('pst_')));
  await index.writeComments(Object.values(ids).filter((id) => id.startsWith('cmt_')));
  ids['user'] = 'usr_bridgette';
  const account = { id: ids['user'], name: 'Bridge Builder', bio: 'Zanzibar', createdAt: '2026-01-01T00:00:00Z' };
  await index.writeAccounts([account.id], [account]);
});
afterAll(() => content.close());

describe('a search', () => {
  it('finds public documents of every type, titles first, and no drafts, not even for their author', async () => {
    expect(await find('bridge')).toEqual(['user', 'title', expect.any(String), expect.any(String)]);
    expect((await find('bridge')).sort()).toEqual(['body', 'comment', 'title', 'user']);
    expect(await find('secret')).toEqual([]);
  });

  it('finds only the requested types', async () => {
    expect(await find('bridge', { types: ['USER'] })).toEqual(['user']);
    expect((await find('bridge', { types: ['COMMENT', 'POST'] })).sort()).toEqual(['body', 'comment', 'title']);
    expect((await find('bridge', { types: [] })).length).toBe(4);
  });

  it('finds inflections in the language of the document, incomplete words, and misspelt ones', async () => {
    expect(await find('run')).toEqual(['body']);
    expect(await find('susp')).toEqual(['title']);
    expect(await find('post')).toEqual(['markup']);
    expect(await find('brücke')).toEqual(['german']);
    expect((await find('brigde')).sort()).toEqual(['body', 'comment', 'title', 'user']);
    expect(await find('zanzibra')).toEqual(['user']);
  });

  it('understands phrases, or, and excluded words', async () => {
    expect(await find('"people are running"')).toEqual(['body']);
    expect(await find('"running people"')).toEqual([]);
    expect(await find('"needs a bridge"')).toEqual(['body']);
    expect(await find('"need a bridge"')).toEqual(['body']);
    expect(await find('"needs the bridge"')).toEqual([]);
    expect((await find('cables or zanzibar')).sort()).toEqual(['title', 'user']);
    expect((await find('bridge -river')).sort()).toEqual(['comment', 'title', 'user']);
    expect(await find('the bridges of world')).toEqual(['title']);
  });

  it('highlights matches in escaped fields, and takes marks of documents for what they are', async () => {
    const { data } = await ask('zebra or posting');
    const [edge] = data.search.edges;
    const highlights = Object.fromEntries((edge?.highlights ?? []).map(({ field, html }) => [field, html]));
    expect(highlights['TITLE']).toBe('<mark>Posting</mark> &lt;b&gt;bold&lt;/b&gt; &amp; &quot;brash&quot;');
    expect(highlights['BODY']).toContain('<mark>zebra</mark>');
    expect(highlights['BODY']).not.toMatch(/<(?!\/?mark>)/);
    expect(JSON.stringify(edge)).not.toMatch(/[\u{E000}\u{E001}]/u);
    const incomplete = await ask('suspens');
    expect(incomplete.data.search.edges[0]?.highlights[0]?.parts[0]).toEqual({ text: 'Suspension', isMatch: true });
  });

  it.each([
    ['', {}],
    ['  ', {}],
    ['!!! & |', {}],
    ['-bridge', {}],
    ['a\u0000b', {}],
    ['a '.repeat(33), {}],
    ['a'.repeat(101), {}],
    ['a'.repeat(201), {}],
    ['bridge', { first: 0 }],
    ['bridge', { first: 101 }],
    ['bridge', { after: 'bm90' }],
    ['bridge', { first: 1, last: 1 }],
  ])('refuses %j with %j', async (query, args) => {
    expect(await codeOf(query, args)).toBe('VALIDATION_ERROR');
  });

  it('answers any other string with results or none', async () => {
    const sign = fc.constantFrom(
      "'",
      '"',
      '\\',
      ':',
      '*',
      '(',
      ')',
      '<->',
      '&',
      '|',
      '!',
      '%',
      '$POST',
      'a',
      'bridge',
      ' or ',
      ';--',
      'ü',
      '🦊',
      ' ',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(sign, { minLength: 1, maxLength: 12 }), async (signs) => {
        expect([undefined, 'VALIDATION_ERROR']).toContain(await codeOf(signs.join('')));
      }),
      { numRuns: 60 },
    );
  });

  it('shows nothing that was deleted or hidden after it was indexed, and does not count it', async () => {
    await createPost('doomed', { title: 'Quicksilver' });
    await createPost('archived', { title: 'Quicksilver archive' });
    await createComment('orphan', 'archived', 'quicksilver too');
    await index.writePosts([ids['doomed'] ?? '', ids['archived'] ?? '']);
    expect((await find('quicksilver')).sort()).toEqual(['archived', 'doomed', 'orphan']);
    await content.prisma.post.delete({ where: { id: ids['doomed'] ?? '' } });
    await content.prisma.post.update({ where: { id: ids['archived'] ?? '' }, data: { status: 'ARCHIVED' } });
    const { data } = await ask('quicksilver');
    expect(data.search).toEqual({ totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, edges: [] });
  });

  it('pages through all results once, forward, backward and by offset, and counts them', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `page${String(i)}`);
    for (const name of names) await createPost(name, { title: `Pagination ${name}`, body: 'filler '.repeat(names.indexOf(name) % 5) });
    await index.writePosts(names.map((name) => ids[name] ?? ''));
    const whole = await find('pagination');
    expect([...whole].sort()).toEqual([...names].sort());
    const walked: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { search }: Page = (await ask('pagination', { first: 7, after })).data;
      expect(search.totalCount).toBe(25);
      walked.push(...search.edges.map((edge) => nameOf(edge?.node.id ?? '')));
      ({ endCursor: after, hasNextPage: more } = search.pageInfo);
    }
    expect(walked).toEqual(whole);
    expect(await find('pagination', { first: 5, offset: 20 })).toEqual(whole.slice(20));
    expect(await find('pagination', { last: 3 })).toEqual(whole.slice(-3));
  });

  it('needs as many statements for many results as for one', async () => {
    const count = async (first: number) => {
      const before = await content.countStatements();
      await ask('pagination or bridge', { first });
      return (await content.countStatements()) - before;
    };
    await count(1);
    expect(await count(1)).toBeLessThanOrEqual(6);
    expect(await count(29)).toBeLessThanOrEqual(6);
  });
});

describe('the index', () => {
  it('has the comments of a post when it is published, and loses them with it', async () => {
    await createPost('late', { title: 'Latecomer', status: 'DRAFT' });
    await createComment('early', 'late', 'latecomer here');
    await index.writePosts([ids['late'] ?? '']);
    expect(await find('latecomer')).toEqual([]);
    await content.prisma.post.update({ where: { id: ids['late'] ?? '' }, data: { status: 'PUBLISHED' } });
    await index.writePosts([ids['late'] ?? '']);
    expect((await find('latecomer')).sort()).toEqual(['early', 'late']);
    await content.prisma.post.update({ where: { id: ids['late'] ?? '' }, data: { status: 'ARCHIVED' } });
    await index.writePosts([ids['late'] ?? '']);
    const [left] = await content.prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM "search_documents" WHERE "id" = ${ids['late']} OR "postId" = ${ids['late']}`;
    expect(left?.count).toBe(0);
  });

  it('gets many comments of a post by several statements, each of which ends within its time limit', async () => {
    await createPost('popular', { title: 'Much discussed' });
    await content.prisma.$executeRaw`
      INSERT INTO "comments" ("id", "postId", "authorId", "body") SELECT 'cmt_many' || i, ${ids['popular']}, 'usr_a', 'gossip' FROM generate_series(1, 1300) i`;
    await content.prisma.$executeRaw`
      CREATE FUNCTION "refuse_many"() RETURNS TRIGGER LANGUAGE plpgsql AS
      $$ BEGIN IF (SELECT count(*) FROM "inserted") > 500 THEN RAISE 'too many'; END IF; RETURN NULL; END $$`;
    await content.prisma.$executeRaw`
      CREATE TRIGGER "refuse_many" AFTER INSERT ON "search_documents" REFERENCING NEW TABLE AS "inserted"
      FOR EACH STATEMENT EXECUTE FUNCTION "refuse_many"()`;
    await index.writePosts([ids['popular'] ?? '']);
    await content.prisma.$executeRaw`DROP TRIGGER "refuse_many" ON "search_documents"`;
    const [written] = await content.prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM "search_documents" WHERE "postId" = ${ids['popular']}`;
    expect(written?.count).toBe(1300);
  });

  it('removes accounts that are no longer active', async () => {
    const account = { id: 'usr_gone', name: 'Evanescent', bio: null, createdAt: '2026-01-01T00:00:00Z' };
    await index.writeAccounts([account.id], [account]);
    expect(await find('evanescent')).toEqual(['usr_gone']);
    await index.writeAccounts([account.id], []);
    expect(await find('evanescent')).toEqual([]);
  });
});
