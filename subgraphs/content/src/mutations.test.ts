/** Who may change what, and which refusal comes first (contract §2, §3). Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Role } from '@trestle/identity';
import { type TestContent, callerOf, openTestContent } from './test-content.ts';

let content: TestContent;

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
});
afterAll(() => content.close());

const CALLERS: Record<string, readonly [id: string, role: Role]> = {
  owner: ['usr_owner', 'USER'],
  other: ['usr_other', 'USER'],
  moderator: ['usr_moderator', 'MODERATOR'],
  administrator: ['usr_admin', 'ADMIN'],
};

/** Runs a single mutation. Returns its result, or the code of its error. */
async function mutate(name: string, mutation: string): Promise<unknown> {
  const caller = CALLERS[name];
  const { data, codes } = await content.run<Record<string, unknown> | null>(`mutation { it: ${mutation} }`, {
    ...(caller && { caller: callerOf(...caller) }),
  });
  return codes['it'] ?? data?.['it'];
}

/** The types of content; `may` lists who may change a resource besides its owner. */
const KINDS = {
  Post: { change: '{ title: "New" }', text: 'title', may: ['moderator', 'administrator'] },
  Comment: { change: '{ body: "New" }', text: 'body', may: ['moderator', 'administrator'] },
  Video: { change: '{ title: "New" }', text: 'title', may: ['administrator'] },
  Message: { change: '{ body: "New" }', text: 'body', may: ['administrator'] },
} as const;
type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];

const make: Record<Kind, () => Promise<string>> = {
  Post: async () => (await content.createPost('usr_owner')).id,
  async Comment() {
    const { id: postId } = await content.createPost('usr_somebody');
    return (await content.stores.comments.create({ postId, authorId: 'usr_owner', body: 'Hi' }, 'all'))?.id ?? '';
  },
  async Video() {
    const video = { id: content.createId('vid'), ownerId: 'usr_owner', title: 'T', status: 'PUBLISHED' } as const;
    return (await content.prisma.video.create({ data: video })).id;
  },
  async Message() {
    const id = content.createId('chn');
    await content.prisma.channel.create({ data: { id, name: id.replace('_', '-') } });
    return (await content.stores.messages.create({ channelId: id, authorId: 'usr_owner', body: 'Hi' })).id;
  },
};

describe.each(kinds)('%s', (kind) => {
  const { change, text, may } = KINDS[kind];
  const field = kind.toLowerCase();
  const update = (id: string, { input = change, versions = '' }: { input?: string; versions?: string } = {}) =>
    `update${kind}(id: "${id}", input: ${input}${versions && `, expectedVersions: ${versions}`}) { ${text} version }`;
  const remove = (id: string, versions = '') => `delete${kind}(id: "${id}"${versions && `, expectedVersions: ${versions}`})`;

  it.each(Object.keys(CALLERS))('is changed and deleted by its owner and by the roles that may: %s', async (name) => {
    const id = await make[kind]();
    const allowed = name === 'owner' || (may as readonly string[]).includes(name);
    expect(await mutate(name, update(id))).toEqual(allowed ? { [text]: 'New', version: 2 } : 'FORBIDDEN');
    expect(await mutate(name, remove(id))).toBe(allowed ? true : 'FORBIDDEN');
  });

  it('is changed by callers who are logged in only', async () => {
    const id = await make[kind]();
    expect(await mutate('anonymous', update(id))).toBe('UNAUTHORIZED');
    expect(await mutate('anonymous', remove(id))).toBe('UNAUTHORIZED');
  });

  it('does not change with an unexpected version', async () => {
    const id = await make[kind]();
    expect(await mutate('owner', update(id, { versions: '[2, 3]' }))).toBe('PRECONDITION_FAILED');
    expect(await mutate('owner', update(id, { versions: '[]' }))).toBe('PRECONDITION_FAILED');
    expect(await mutate('owner', remove(id, '[2]'))).toBe('PRECONDITION_FAILED');
    expect(await mutate('owner', update(id, { versions: '[5, 1]' }))).toEqual({ [text]: 'New', version: 2 });
    expect(await mutate('owner', remove(id, '[2]'))).toBe(true);
  });

  it('is FORBIDDEN for other callers before its version or the input is checked', async () => {
    const id = await make[kind]();
    expect(await mutate('other', update(id, { versions: '[9]' }))).toBe('FORBIDDEN');
    expect(await mutate('other', update(id, { input: `{ ${text}: "" }` }))).toBe('FORBIDDEN');
    expect(await mutate('owner', update(id, { input: `{ ${text}: "" }` }))).toBe('VALIDATION_ERROR');
  });

  it('is GONE for reads and changes after its deletion, and NOT_FOUND for another deletion', async () => {
    const id = await make[kind]();
    await mutate('owner', remove(id));
    expect(await mutate('owner', update(id))).toBe('GONE');
    expect(await mutate('owner', remove(id))).toBe('NOT_FOUND');
    const read = (of: string) => content.run(`{ ${field}(id: "${of}") { id } }`, { caller: callerOf('usr_other') });
    expect(await read(id)).toEqual({ data: { [field]: null }, codes: { [field]: 'GONE' } });
    for (const never of [content.createId(id.slice(0, 3)), 'nonsense']) {
      expect(await read(never)).toEqual({ data: { [field]: null }, codes: {} });
      expect(await mutate('owner', update(never))).toBe('NOT_FOUND');
      expect(await mutate('owner', remove(never))).toBe('NOT_FOUND');
    }
  });

  it('is not found by the id of another type, even of a deleted one', async () => {
    const another = kind === 'Post' ? 'Video' : 'Post';
    const id = await make[another]();
    await mutate('owner', `delete${another}(id: "${id}")`);
    expect(await content.run(`{ ${field}(id: "${id}") { id } }`, { caller: callerOf('usr_other') })).toMatchObject({ codes: {} });
    expect(await mutate('owner', update(id))).toBe('NOT_FOUND');
  });
});

describe.each(['Post', 'Video'] as const)('%s that was never published', (kind) => {
  const field = kind.toLowerCase();
  const unpublished = {
    Post: async () => (await content.createPost('usr_owner', { status: 'DRAFT' })).id,
    async Video() {
      const video = { id: content.createId('vid'), ownerId: 'usr_owner', title: 'T', status: 'UPLOADED' } as const;
      return (await content.prisma.video.create({ data: video })).id;
    },
  };

  it('is GONE after its deletion for callers who could see it only', async () => {
    const id = await unpublished[kind]();
    expect(await mutate('owner', `delete${kind}(id: "${id}")`)).toBe(true);
    const codeFor = async (caller?: ReturnType<typeof callerOf>) =>
      (await content.run(`{ ${field}(id: "${id}") { id } }`, { ...(caller && { caller }) })).codes[field];
    expect(await codeFor(callerOf('usr_owner'))).toBe('GONE');
    expect(await codeFor(callerOf('usr_admin', 'ADMIN'))).toBe('GONE');
    expect([await codeFor(callerOf('usr_other')), await codeFor()]).toEqual([undefined, undefined]);
    expect(await mutate('other', `update${kind}(id: "${id}", input: { title: "New" }) { id }`)).toBe('NOT_FOUND');
    expect(await mutate('other', `createComment(input: { postId: "${id}", body: "Hi" }) { id }`)).toBe('NOT_FOUND');
  });
});

describe.each(['the comment', 'its post'])('a comment on a post that is not published, after the deletion of %s', (deleted) => {
  it.each(['DRAFT', 'ARCHIVED'] as const)('is GONE for callers who could see the post only: %s', async (status) => {
    const { id: postId } = await content.createPost('usr_owner', { status });
    const { id } = (await mutate('moderator', `createComment(input: { postId: "${postId}", body: "Hi" }) { id }`)) as { id: string };
    const codes = () =>
      Promise.all(
        [...Object.keys(CALLERS), 'anonymous'].map(async (name) => {
          const [caller] = [CALLERS[name]].flatMap((known) => (known ? [callerOf(...known)] : []));
          const { data, codes: errors } = await content.run(`{ comment(id: "${id}") { id } }`, { ...(caller && { caller }) });
          return [name, errors['comment'] ?? (data as { comment: object | null }).comment];
        }),
      );
    const seen = { owner: { id }, other: null, moderator: { id }, administrator: { id }, anonymous: null };
    expect(Object.fromEntries(await codes())).toEqual(seen);
    const deletion = deleted === 'its post' ? `deletePost(id: "${postId}")` : `deleteComment(id: "${id}")`;
    expect(await mutate('moderator', deletion)).toBe(true);
    expect(Object.fromEntries(await codes())).toEqual({ ...seen, owner: 'GONE', moderator: 'GONE', administrator: 'GONE' });
    expect(await mutate('other', `updateComment(id: "${id}", input: { body: "New" }) { id }`)).toBe('NOT_FOUND');
  });
});

describe('a post', () => {
  const create = (input: string) => `createPost(input: ${input}) { status tags version author { id } }`;

  it('is created as a draft or published by callers who are logged in', async () => {
    const made = { status: 'DRAFT', tags: ['a', 'b'], version: 1, author: { id: 'usr_other' } };
    expect(await mutate('other', create('{ title: "T", tags: ["B", "a", "b"] }'))).toEqual(made);
    expect(await mutate('other', create('{ title: "T", status: PUBLISHED }'))).toMatchObject({ status: 'PUBLISHED' });
    expect(await mutate('other', create('{ title: "T", status: ARCHIVED }'))).toBe('BUSINESS_RULE_VIOLATION');
    expect(await mutate('other', create('{ title: "" }'))).toBe('VALIDATION_ERROR');
    expect(await mutate('anonymous', create('{ title: "T" }'))).toBe('UNAUTHORIZED');
  });

  it('is created for another account by administrators only', async () => {
    const by = (id: string) => `createPost(input: { title: "T", authorId: "${id}" }) { author { id } }`;
    expect(await mutate('other', by('usr_other'))).toEqual({ author: { id: 'usr_other' } });
    expect(await mutate('moderator', by('usr_other'))).toBe('FORBIDDEN');
    expect(await mutate('administrator', by('usr_other'))).toEqual({ author: { id: 'usr_other' } });
    expect(await mutate('administrator', by('\\u0000'))).toBe('VALIDATION_ERROR');
  });

  it('is NOT_FOUND for callers who may not see it, whatever else is invalid', async () => {
    const { id } = await content.createPost('usr_owner', { status: 'DRAFT' });
    expect(await mutate('other', `updatePost(id: "${id}", input: { title: "" }, expectedVersions: [9]) { id }`)).toBe('NOT_FOUND');
    expect(await mutate('other', `deletePost(id: "${id}", expectedVersions: [9])`)).toBe('NOT_FOUND');
  });

  it('is PRECONDITION_FAILED with an unexpected version before its status is checked', async () => {
    const { id } = await content.createPost('usr_owner');
    const toDraft = (versions: string) => `updatePost(id: "${id}", input: { status: DRAFT }${versions}) { id }`;
    expect(await mutate('owner', toDraft(', expectedVersions: [9]'))).toBe('PRECONDITION_FAILED');
    expect(await mutate('owner', toDraft(', expectedVersions: [1]'))).toBe('BUSINESS_RULE_VIOLATION');
    expect(await mutate('owner', toDraft(''))).toBe('BUSINESS_RULE_VIOLATION');
  });
});

describe('a comment and a message', () => {
  it('need a post and a channel', async () => {
    const { id } = await content.createPost('usr_owner');
    await mutate('owner', `deletePost(id: "${id}")`);
    expect(await mutate('other', `createComment(input: { postId: "${id}", body: "Hi" }) { id }`)).toBe('GONE');
    expect(await mutate('other', `createComment(input: { postId: "x", body: "Hi" }) { id }`)).toBe('NOT_FOUND');
    expect(await mutate('other', `createMessage(input: { channelId: "x", body: "Hi" }) { id }`)).toBe('NOT_FOUND');
  });

  it('belong to the caller', async () => {
    const { id: postId } = await content.createPost('usr_owner');
    const comment = `createComment(input: { postId: "${postId}", body: "Hi" }) { body version author { id } post { id } }`;
    expect(await mutate('other', comment)).toEqual({ body: 'Hi', version: 1, author: { id: 'usr_other' }, post: { id: postId } });
    const { id } = await content.prisma.channel.create({ data: { id: content.createId('chn'), name: 'general' } });
    const message = `createMessage(input: { channelId: "${id}", body: "Hi" }) { body author { id } channel { name } }`;
    expect(await mutate('other', message)).toEqual({ body: 'Hi', author: { id: 'usr_other' }, channel: { name: 'general' } });
    expect(await mutate('other', `createMessage(input: { channelId: "${id}", body: " " }) { id }`)).toBe('VALIDATION_ERROR');
  });
});

it('the mutations of one request see the changes of earlier ones', async () => {
  const { id } = await content.createPost('usr_owner', { status: 'DRAFT' });
  const { data, codes } = await content.run(
    `mutation ($id: ID!) {
      a: updatePost(id: $id, input: { status: PUBLISHED }) { version }
      b: createComment(input: { postId: $id, body: "One" }) { post { version comments { totalCount } } }
      c: createComment(input: { postId: $id, body: "Two" }) { post { comments { totalCount } } }
      d: updatePost(id: $id, input: { status: ARCHIVED }) { status version }
      e: deletePost(id: $id)
    }`,
    { caller: callerOf('usr_owner'), variables: { id } },
  );
  expect({ data, codes }).toEqual({
    data: {
      a: { version: 2 },
      b: { post: { version: 2, comments: { totalCount: 1 } } },
      c: { post: { comments: { totalCount: 2 } } },
      d: { status: 'ARCHIVED', version: 3 },
      e: true,
    },
    codes: {},
  });
});

describe('a change to the values that a resource has', () => {
  it('keeps the version and the time of the last change, and reports no event', async () => {
    const post = await content.createPost('usr_owner', { status: 'DRAFT' });
    const input = { title: post.title, body: post.body, tags: post.tags, status: 'DRAFT' };
    const document = 'mutation ($id: ID!, $input: UpdatePostInput!) { updatePost(id: $id, input: $input) { version } }';
    const { data } = await content.run(document, { caller: callerOf('usr_owner'), variables: { id: post.id, input } });
    expect(data).toEqual({ updatePost: { version: 1 } });
    expect(await content.prisma.post.findUnique({ where: { id: post.id } })).toMatchObject({ version: 1, updatedAt: post.updatedAt });
    expect(await content.prisma.$queryRaw`SELECT "type" FROM "outbox" WHERE "subject" = ${post.id}`).toEqual([{ type: 'post.created' }]);
  });

  it('is PRECONDITION_FAILED with another expected version', async () => {
    const { id, title } = await content.createPost('usr_owner');
    const document = 'mutation ($id: ID!, $input: UpdatePostInput!) { updatePost(id: $id, input: $input, expectedVersions: [7]) { id } }';
    const { codes } = await content.run(document, { caller: callerOf('usr_owner'), variables: { id, input: { title } } });
    expect(codes).toEqual({ updatePost: 'PRECONDITION_FAILED' });
  });
});
