import { describe, expect, it } from '@jest/globals';
import { type Respond, composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { type Executor, OBJECT_EXECUTOR } from './executor.ts';

const SDL = composeSupergraph({
  posts: `type Query { posts: [Post!]! } type Post { n: Int! author: User editor: User }
    type User @key(fields: "id") { id: ID! }`,
  places: `type Query { places: [Place!]! } type Place { n: Int! owner: User } type User @key(fields: "id", resolvable: false) { id: ID! }`,
  users: 'type User @key(fields: "id") { id: ID! name: String age: Int! friend: User }',
  karma: 'type User @key(fields: "id") { id: ID! points: Int rank: Int rival: User }',
});
/** A user is the author of the first post and the editor of the second one, and the owner of a place. */
const ROOTS: Record<string, string> = {
  posts: JSON.stringify({
    data: {
      posts: [
        { n: 1, author: { __typename: 'User', id: 'a' }, editor: { __typename: 'User', id: 'b' } },
        { n: 2, author: null, editor: { __typename: 'User', id: 'a' } },
      ],
    },
  }),
  places: JSON.stringify({ data: { places: [{ n: 3, owner: { __typename: 'User', id: 'a' } }] } }),
};

/** Answers the roots, and entities by `toEntity`, which gets the representation. */
const answer =
  (toEntity: (key: { id: string }, service: string) => unknown, errors: (service: string) => readonly unknown[] = () => []): Respond =>
  ({ service, query, variables }) => {
    const root = ROOTS[service];
    if (root) return query.includes('__typename') ? root : root.replaceAll('"__typename":"User",', '');
    const entities = (variables['representations'] as { id: string }[]).map((key) => toEntity(key, service));
    const found = errors(service);
    return JSON.stringify({ ...(found.length > 0 && { errors: found }), data: { _entities: entities } });
  };

interface Ran {
  readonly data: unknown;
  readonly sent: readonly string[];
  /** The message and the path of each error. */
  readonly errors: readonly string[];
  readonly path: string;
}

interface Options {
  /** Default: that on bytes. */
  readonly executor?: Executor | undefined;
  readonly batchesEntities?: boolean;
}

async function run(query: string, text: Respond, { executor, batchesEntities = true }: Options = {}): Promise<Ran> {
  const { run: execute, found, paths } = createRunner(executor);
  const sent: string[] = [];
  const result = await execute(prepare(query, SDL, { batchesEntities }), (fetch, done) => {
    const { variables } = JSON.parse(fetch.body) as { variables: { representations?: { id: string }[] } };
    sent.push(`${fetch.service} ${(variables.representations ?? []).map(({ id }) => id).join()}`.trim());
    respond(fetch, done, text);
  });
  return {
    data: (JSON.parse(result.slice(0, result.lastIndexOf('}') + 1)) as { data: unknown }).data,
    sent: sent.sort(),
    errors: found.map(({ message, path }) => `${message} ${(path ?? []).join('.')}`).sort(),
    path: paths.join(),
  };
}

const QUERY = '{ posts { n author { name } editor { name } } places { n owner { name } } }';
const named = ({ id }: { id: string }) => ({ __typename: 'User', name: id.toUpperCase() });
/** The executor on bytes gets entities without the names of their types. */
const plain = ({ id }: { id: string }) => ({ name: id.toUpperCase() });

describe('fetches of entities at several paths', () => {
  const data = {
    posts: [
      { n: 1, author: { name: 'A' }, editor: { name: 'B' } },
      { n: 2, author: null, editor: { name: 'A' } },
    ],
    places: [{ n: 3, owner: { name: 'A' } }],
  };

  it('are one fetch with each entity once, where they are equal', async () => {
    const bytes = await run(QUERY, answer(plain));
    expect(bytes).toEqual({ data, errors: [], path: 'bytes', sent: ['places', 'posts', 'users a,b'] });
    const objects = await run(QUERY, answer(named), { executor: OBJECT_EXECUTOR });
    expect(objects).toEqual({ data, errors: [], path: '', sent: ['places', 'posts', 'users a,b'] });
  });

  it('are one for each path where batching is off', async () => {
    const { sent, ...result } = await run(QUERY, answer(plain), { batchesEntities: false });
    expect([result.data, sent.filter((each) => each.startsWith('users')).length]).toEqual([data, 3]);
  });

  it('stay apart where they select other fields', async () => {
    const { sent } = await run('{ posts { author { name } editor { age } } }', answer(named), { executor: OBJECT_EXECUTOR });
    expect(sent).toEqual(['posts', 'users a', 'users b,a']);
  });

  it('wait for each other where that does not lengthen the longest chain of fetches', async () => {
    const query = '{ posts { author { friend { points } } editor { points } } }';
    const friend = ({ id }: { id: string }, service: string) =>
      service === 'users' ? { friend: { __typename: 'User', id: `f${id}` } } : { points: id.length };
    const { sent, data: found } = await run(query, answer(friend), { executor: OBJECT_EXECUTOR });
    // The chain posts, users, karma is as long as before: the editors wait for the friends.
    expect(sent).toEqual(['karma fa,b,a', 'posts', 'users a']);
    expect(found).toEqual({
      posts: [
        { author: { friend: { points: 2 } }, editor: { points: 1 } },
        { author: null, editor: { points: 1 } },
      ],
    });
  });

  it('stay apart where one needs what the other brings', async () => {
    const query = '{ posts { author { friend { rival { friend { points } } } } } }';
    const next = ({ id }: { id: string }, service: string) => {
      const entity = { __typename: 'User', id: `${id}+` };
      return service === 'users' ? { friend: entity } : id === 'a+++' ? { points: 1 } : { rival: entity };
    };
    const { sent, data: found } = await run(query, answer(next), { executor: OBJECT_EXECUTOR });
    expect(sent).toEqual(['karma a+', 'karma a+++', 'posts', 'users a', 'users a++']);
    expect(found).toEqual({ posts: [{ author: { friend: { rival: { friend: { points: 1 } } } } }, { author: null }] });
  });

  it.each([undefined, OBJECT_EXECUTOR])('give an entity at each path its own fields', async (executor) => {
    const query = '{ posts { author { name x: points } editor { name x: rank } } }';
    const whole = ({ id }: { id: string }, service: string) =>
      service === 'users' ? { __typename: 'User', name: id } : { __typename: 'User', x: id === 'a' ? 1 : 2 };
    const { data: found, sent } = await run(query, answer(whole), { executor });
    expect(sent).toEqual(['karma a', 'karma b,a', 'posts', 'users a,b']);
    expect(found).toEqual({
      posts: [
        { author: { name: 'a', x: 1 }, editor: { name: 'b', x: 2 } },
        { author: null, editor: { name: 'a', x: 1 } },
      ],
    });
  });
});

describe.each([
  ['bytes', undefined],
  ['objects', OBJECT_EXECUTOR],
])('errors of one fetch for several paths, executed with %s', (_, executor) => {
  const missing = {
    posts: [
      { n: 1, author: { name: null }, editor: { name: 'B' } },
      { n: 2, author: null, editor: { name: null } },
    ],
    places: [{ n: 3, owner: { name: null } }],
  };
  const nameless = ({ id }: { id: string }) => ({ __typename: 'User', name: id === 'a' ? null : 'B' });
  /** The index of user `a` among the representations is 0 in both executors. */
  const error = (path: unknown, extensions?: unknown) => () => [{ message: 'No', path, ...(extensions !== undefined && { extensions }) }];

  it('are at each position of the entity', async () => {
    const result = await run(QUERY, answer(nameless, error(['_entities', 0, 'name'])), { executor });
    expect([result.data, result.errors]).toEqual([missing, ['No places.0.owner.name', 'No posts.0.author.name', 'No posts.1.editor.name']]);
    expect(result.sent).toEqual(['places', 'posts', 'users a,b']);
  });

  it('are at the first position of each path for masks, as without batches', async () => {
    for (const batchesEntities of [true, false]) {
      const text = answer(nameless, (service) => (service === 'users' ? error(['_entities', 0, 'name'], { masked: true })() : []));
      const { errors } = await run('{ posts { author { name } } places { owner { name } } }', text, { executor, batchesEntities });
      expect(errors).toEqual(['No places.0.owner.name', 'No posts.0.author.name']);
    }
  });

  it('are at each position when the fetch fails', async () => {
    const failing: Respond = (fetch) => (fetch.service === 'users' ? 'no JSON' : answer(named)(fetch));
    const result = await run(QUERY, failing, { executor });
    expect(result.errors.map((each) => each.split(' ').at(-1))).toEqual([
      'places.0.owner.name',
      'posts.0.author.name',
      'posts.0.editor.name',
      'posts.1.editor.name',
    ]);
    expect(result.sent).toEqual(['places', 'posts', 'users a,b']);
  });

  it('are at each path when they have none', async () => {
    const result = await run(QUERY, answer(nameless, error(undefined)), { executor });
    expect(result.errors).toEqual(['No places', 'No posts', 'No posts']);
  });

  it('null each position of an entity that its subgraph does not have', async () => {
    const { data } = await run(
      QUERY,
      answer(({ id }) => (id === 'a' ? null : { __typename: 'User', name: 'B' })),
      { executor },
    );
    expect(data).toEqual(missing);
  });

  it('fail as a whole when the number of entities differs', async () => {
    const short: Respond = (fetch) => (fetch.service === 'users' ? '{"data":{"_entities":[{"name":"A"}]}}' : answer(named)(fetch));
    const { errors } = await run(QUERY, short, { executor });
    expect(errors).toHaveLength(4);
    expect(errors[0]).toBe('The subgraph users did not return one entity for each representation. places.0.owner.name');
  });
});

it('hands entities in another order over from bytes to objects, and requests none twice', async () => {
  const user = (id: string) => ({ __typename: 'User', id });
  const posts = [
    { n: 1, author: user('a'), editor: user('b') },
    { n: 2, author: user('c'), editor: user('a') },
  ];
  const text: Respond = (fetch) => {
    // The other member makes the response one for the object executor.
    if (fetch.service !== 'posts')
      return answer(plain, () => [{ message: 'No', path: ['_entities', 2, 'name'] }])(fetch).replace(/}$/, ',"other":1}');
    const root = JSON.stringify({ data: { posts } });
    return fetch.query.includes('__typename') ? root : root.replaceAll('"__typename":"User",', '');
  };
  const { sent, data, errors, path } = await run('{ posts { n author { name } editor { name } } }', text);
  // With objects all authors come first.
  expect([sent, path]).toEqual([['posts', 'users a,b,c'], 'errors']);
  expect(data).toEqual({
    posts: [
      { n: 1, author: { name: 'A' }, editor: { name: 'B' } },
      { n: 2, author: { name: 'C' }, editor: { name: 'A' } },
    ],
  });
  expect(errors).toEqual(['No posts.1.author.name']);
});
