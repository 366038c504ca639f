/** What is hidden, deleted or never was is null by reference, whichever subgraph owns it (contract §2, §3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { type EveryKind, HIDDEN_FROM_BOB, createEveryKind } from './every-kind.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let admin: Account;
let ids: EveryKind['ids'];

beforeAll(async () => {
  stack = await leaseStack();
  ({ ada, bob, admin, ids } = await createEveryKind(stack));
});
afterAll(() => stack.stop());

const node = async (id: string, token?: string, fields = 'id') => {
  const { data, errors } = await stack.graphql<{ node: unknown }>(`query ($id: ID!) { node(id: $id) { ${fields} } }`, {
    variables: { id },
    token,
  });
  return { node: data?.node ?? null, codes: errors.map(({ extensions }) => extensions['code']) };
};

describe('node', () => {
  it('returns a resource of every kind to callers who may read it', async () => {
    for (const [kind, id] of Object.entries(ids))
      expect(await node(id, ada.token, '__typename id')).toEqual({ node: { __typename: kind === 'Draft' ? 'Post' : kind, id }, codes: [] });
  });

  it('is null without an error for a resource that is hidden from the caller, also when only `id` is selected', async () => {
    for (const kind of HIDDEN_FROM_BOB) expect([kind, await node(ids[kind] ?? '', bob.token)]).toEqual([kind, { node: null, codes: [] }]);
    for (const kind of [...HIDDEN_FROM_BOB, 'Channel', 'Message'])
      expect([kind, await node(ids[kind] ?? '')]).toEqual([kind, { node: null, codes: [] }]);
  });

  it('is null for any selection of a hidden resource, also of nullable fields only', async () => {
    const selections = '... on Video { durationSeconds } ... on Order { customer { id } } ... on User { bio }';
    for (const kind of ['Order', 'Video']) expect(await node(ids[kind] ?? '', bob.token, selections)).toEqual({ node: null, codes: [] });
    expect(await node(ids['Video'] ?? '', ada.token, selections)).toEqual({ node: { durationSeconds: null }, codes: [] });
  });

  it('is null for `__typename` of a hidden resource, and returns the type to callers who may read it', async () => {
    for (const selection of [
      '__typename',
      '... on Post { author { id } } __typename',
      'kind: __typename ... on User { id: name }',
      '...T',
    ]) {
      const ask = async (id: string, token?: string) => {
        const fragment = selection === '...T' ? 'fragment T on Node { __typename ... on Comment { author { email } } }' : '';
        const query = `query ($id: ID!) { node(id: $id) { ${selection} } } ${fragment}`;
        const { data, errors } = await stack.graphql<{ node: unknown }>(query, { variables: { id }, token });
        return [data?.node, errors];
      };
      for (const kind of HIDDEN_FROM_BOB) {
        expect([selection, kind, await ask(ids[kind] ?? '', bob.token)]).toEqual([selection, kind, [null, []]]);
        expect(await ask(ids[kind] ?? '', ada.token)).toEqual([expect.any(Object), []]);
      }
      for (const prefix of ['usr', 'pst', 'ord'])
        expect(await ask(`${prefix}_01m7ybgss00000000000000000`, admin.token)).toEqual([null, []]);
    }
    // The condition of a field that would ask the owner does not decide whether it is asked.
    const conditional = 'query ($id: ID!, $b: Boolean!) { node(id: $id) { __typename id @include(if: $b) } }';
    for (const b of [true, false]) {
      const { data, errors } = await stack.graphql(conditional, { variables: { id: ids['Order'], b }, token: bob.token });
      expect([data, errors]).toEqual([{ node: null }, []]);
    }
  });

  it('is resolved for the largest number of root fields that an operation may have', async () => {
    const fields = Object.values(ids).map((id, i) => `n${String(i)}: node(id: "${id}") { __typename }`);
    const { data, errors } = await stack.graphql(`{ ${fields.join(' ')} }`, { token: ada.token });
    expect(errors).toEqual([]);
    expect(Object.values(data as object).map((each: { __typename: string } | null) => each?.__typename)).toEqual(
      Object.keys(ids).map((kind) => (kind === 'Draft' ? 'Post' : kind)),
    );
  });

  it('is null without an error for ids of every kind that never existed', async () => {
    for (const prefix of ['usr', 'pst', 'cmt', 'vid', 'chn', 'msg', 'ord', 'itm', 'inv', 'pay'])
      expect([prefix, await node(`${prefix}_01m7ybgss00000000000000000`, admin.token)]).toEqual([prefix, { node: null, codes: [] }]);
    for (const id of ['999999', '0', 'job_01m7ybgss00000000000000000', ''])
      expect([id, await node(id, admin.token)]).toEqual([id, { node: null, codes: [] }]);
  });

  it('fails with VALIDATION_ERROR for an id with U+0000 or of 101 characters', async () => {
    expect(await node('\0', admin.token)).toEqual({ node: null, codes: ['VALIDATION_ERROR'] });
    expect(await node('x'.repeat(101), admin.token)).toEqual({ node: null, codes: ['VALIDATION_ERROR'] });
  });
});

describe('an account that was deleted', () => {
  it('is null as author, as customer and as node, also when only `id` is selected', async () => {
    const gone = await stack.createAccount('Gone');
    const { data } = await stack.graphql<{ post: { id: string }; order: { id: string } }>(
      `mutation { post: createPost(input: { title: "Left", status: PUBLISHED }) { id } order: createOrder(input: { productId: "${ids['Product'] ?? ''}", qty: 1 }) { id } }`,
      { token: gone.token },
    );
    const query =
      'query ($post: ID!, $order: ID!) { post(id: $post) { title author { id } same: author { bio } } order(id: $order) { total customer { id } } }';
    const variables = { post: data?.post.id, order: data?.order.id };
    const before = await stack.graphql(query, { variables, token: admin.token });
    expect(before.data).toEqual({
      post: { title: 'Left', author: { id: gone.id }, same: { bio: null } },
      order: { total: 100, customer: { id: gone.id } },
    });
    await stack.graphql(`mutation { deleteUser(id: "${gone.id}") }`, { token: gone.token });
    const after = await stack.graphql(query, { variables, token: admin.token });
    expect(after.errors).toEqual([]);
    expect(after.data).toEqual({ post: { title: 'Left', author: null, same: null }, order: { total: 100, customer: null } });
    expect(await node(gone.id, admin.token)).toEqual({ node: null, codes: [] });
    // Fields of the owner and of others together, of others alone, and none at all: null, and no error "Cannot return null" (GraphQL §6.4.4).
    const selections = ['name posts { id }', 'posts { id }', 'orders { id } name', '__typename'];
    for (const selection of [...selections, 'posts { author { __typename } }', 'id: __typename __owner: orders { id }']) {
      const query = `query ($post: ID!, $order: ID!) { post(id: $post) { author { ${selection} } } order(id: $order) { customer { ${selection} } } }`;
      expect([selection, await stack.graphql(query, { variables, token: admin.token })]).toMatchObject([
        selection,
        { data: { post: { author: null }, order: { customer: null } }, errors: [] },
      ]);
    }
  });
});

describe('the comments of a post', () => {
  it('are paged by `first` and `after` as in Relay, or by `limit`, but not by both', async () => {
    const id = ids['Post'] ?? '';
    for (const body of ['b', 'c'])
      await stack.graphql(`mutation { createComment(input: { postId: "${id}", body: "${body}" }) { id } }`, { token: ada.token });
    interface Page {
      post: { comments: { edges: { node: { body: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } } | null;
    }
    const declared = (args: string) =>
      ['$count: Int', '$cursor: ID', '$limit: Int'].map((each) => (args.includes(each.split(':')[0] ?? '') ? `, ${each}` : '')).join('');
    const ask = (args: string, variables: object = {}) =>
      stack.graphql<Page>(
        `query ($id: ID!${declared(args)}) { post(id: $id) { comments(${args}) { edges { node { body } } pageInfo { hasNextPage endCursor } } } }`,
        { variables: { id, ...variables } },
      );
    const bodies = ({ data }: Awaited<ReturnType<typeof ask>>) => data?.post?.comments.edges.map((edge) => edge.node.body);
    const first = await ask('first: $count, after: $cursor', { count: 2 });
    expect(bodies(first)).toEqual(['Mine', 'b']);
    const cursor = first.data?.post?.comments.pageInfo.endCursor;
    expect(bodies(await ask('first: $count, after: $cursor', { count: 2, cursor }))).toEqual(['c']);
    expect(bodies(await ask('limit: $limit, after: $cursor', { limit: 1, cursor }))).toEqual(['c']);
    expect(bodies(await ask('first: $count, limit: $limit', { count: 1 }))).toEqual(['Mine']);
    const both = await ask('first: 1, limit: 1');
    expect(both.errors.map(({ extensions }) => extensions)).toMatchObject([{ code: 'VALIDATION_ERROR', details: [{ field: 'first' }] }]);
  });
});

describe('POST /orders', () => {
  it('creates an order of several items, and rejects one that repeats a product or is mixed with productId', async () => {
    const items = [
      { productId: Number(ids['Product']), qty: 1 },
      { productId: Number(ids['Product']) + 1, qty: 1 },
    ];
    const placed = await stack.call('POST', '/v1/orders', { token: bob.token, body: { items } });
    expect([placed.status, placed.body]).toMatchObject([201, { total: 130 }]);
    for (const body of [
      { items: [items[0], items[0]] },
      { items, productId: 1 },
      { items: [] },
      { items: [{ qty: 1 }] },
      { items: 'x' },
      {},
    ])
      expect([body, (await stack.call('POST', '/v1/orders', { token: bob.token, body })).status]).toEqual([body, 400]);
  });
});
