/** What a subgraph answers when it is asked directly: for `_entities`, and to requests that it cannot read. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { type EveryKind, createEveryKind } from './every-kind.ts';

let stack: LeasedStack;
let ada: Account;
let admin: Account;
let ids: EveryKind['ids'];

beforeAll(async () => {
  stack = await leaseStack();
  ({ ada, admin, ids } = await createEveryKind(stack));
});
afterAll(() => stack.stop());

describe('_entities of a subgraph', () => {
  it('returns null for deleted and hidden entities, and an error for an invalid representation only', async () => {
    for (const [name, typename, id] of [
      ['users', 'User', ids['User']],
      ['orders', 'Product', ids['Product']],
      ['content', 'Post', ids['Post']],
    ] as const) {
      const of = [
        { __typename: typename, id },
        { __typename: typename },
        { __typename: 'Nothing', id },
        { __typename: typename, id: {} },
        { __typename: typename, reference: id },
      ];
      const reply = await fetch(`${stack.subgraphs[name].url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: `query ($of: [_Any!]!) { _entities(representations: $of) { ... on ${typename} { id } } }`,
          variables: { of },
        }),
      });
      const { data, errors } = (await reply.json()) as {
        data: { _entities: unknown[] };
        errors: { path: unknown[]; extensions: object }[];
      };
      expect(data._entities).toEqual([{ id }, null, null, null, { id }]);
      expect(errors.map(({ path }) => path)).toEqual([1, 2, 3].map((i) => ['_entities', i]));
      expect(errors.map(({ extensions }) => extensions)).toEqual(Array(3).fill(expect.objectContaining({ code: 'VALIDATION_ERROR' })));
    }
  });
});

describe('_entities of a subgraph, asked directly', () => {
  it('returns null without an error for entities that never existed, were deleted or are hidden from the caller', async () => {
    const ask = async (name: 'users' | 'orders' | 'content', representations: object[], token?: string) => {
      const types = [...new Set(representations.map((each) => (each as { __typename: string }).__typename))];
      const fields = types.map((type) => `... on ${type} { id }`).join(' ');
      const reply = await fetch(`${stack.subgraphs[name].url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify({
          query: `query ($of: [_Any!]!) { _entities(representations: $of) { __typename ${fields} } }`,
          variables: { of: representations },
        }),
      });
      return await reply.json();
    };
    const own = { orders: ['Order', 'OrderItem', 'Invoice', 'Payment'], content: ['Post', 'Video', 'Message', 'Channel'] } as const;
    for (const name of ['orders', 'content'] as const) {
      const kinds = own[name].map((kind) => ({ __typename: kind, id: ids[kind === 'Post' ? 'Draft' : kind] }));
      const missing = own[name].map((kind) => ({ __typename: kind, id: `${(ids[kind] ?? '').slice(0, 4)}01m7ybgss00000000000000000` }));
      const nulls = { data: { _entities: own[name].map(() => null) } };
      expect([name, await ask(name, kinds)]).toEqual([name, nulls]);
      expect([name, await ask(name, missing, admin.token)]).toEqual([name, nulls]);
      expect(await ask(name, kinds, ada.token)).toEqual({ data: { _entities: kinds } });
    }
    const gone = await stack.createAccount('Gone soon');
    await stack.graphql(`mutation { deleteUser(id: "${gone.id}") }`, { token: gone.token });
    expect(await ask('users', [{ __typename: 'User', id: gone.id }], admin.token)).toEqual({ data: { _entities: [null] } });
  });
});

describe('a request that a subgraph cannot read', () => {
  const send = (path: string, init: RequestInit) => fetch(`${stack.subgraphs.content.url}${path}`, { method: 'POST', ...init });
  const json = { 'content-type': 'application/json' };

  it.each<[string, RequestInit & { path?: string }, number, string]>([
    ['a body that is not JSON', { headers: json, body: '{"query":' }, 400, 'VALIDATION_ERROR'],
    ['a body that is no object', { headers: json, body: '"x"' }, 400, 'VALIDATION_ERROR'],
    [
      'bytes that are not UTF-8',
      { headers: json, body: Buffer.from('{"query":"{__typename}","x":"\xff"}', 'latin1') },
      400,
      'VALIDATION_ERROR',
    ],
    ['9 MB', { headers: json, body: ' '.repeat(9_000_000) }, 413, 'PAYLOAD_TOO_LARGE'],
    ['bytes that are not gzip', { headers: { ...json, 'content-encoding': 'gzip' }, body: 'x' }, 400, 'VALIDATION_ERROR'],
    ['an unknown encoding', { headers: { ...json, 'content-encoding': 'x' }, body: '{}' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['another charset', { headers: { 'content-type': 'application/json; charset=latin1' }, body: '{}' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['another path', { path: '/graph', headers: json, body: '{}' }, 404, 'NOT_FOUND'],
  ])('is answered with a coded error that quotes nothing: %s', async (_, { path = '/graphql', ...init }, status, code) => {
    const response = await send(path, init);
    const message = expect.stringMatching(/^[\w /,.-]+$/);
    expect([response.status, await response.json()]).toEqual([
      status,
      { errors: [{ message, extensions: { code, requestId: expect.any(String) } }] },
    ]);
  });
});
