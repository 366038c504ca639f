/** Responses with errors (GraphQL §6.4.4, §7.1.2) on bytes. `npm run fuzz` compares the results with those of the object executor. */
import { describe, expect, it } from '@jest/globals';
import { OBJECT_EXECUTOR } from '../executor.ts';
import { type Respond, byService, composeSupergraph, createRunner, prepare, respond } from './test-execution.ts';

const PLACES = composeSupergraph({
  places: `type Query { towns: [Town!]! mayor: Person region: [[Town]!] } type Town @key(fields: "id") { id: ID! mayor: Person! }
    type Person @key(fields: "id", resolvable: false) { id: ID! }`,
  people: 'type Person @key(fields: "id") { id: ID! name: String! motto: String } type Town @key(fields: "id") { id: ID! size: Int! }',
});
const error = (path: readonly (string | number)[], code = 'NOT_FOUND') => ({ message: 'E', path, extensions: { code } });

/** Returns the result of both executors, which must be the same, and how the one on bytes ended. */
async function run(query: string, text: Respond, sdl?: string) {
  const operation = prepare(query, sdl);
  const [bytes, objects] = [createRunner(), createRunner(OBJECT_EXECUTOR)];
  const runOn = ({ run: execute }: typeof bytes) =>
    execute(operation, (fetch, done) => {
      respond(fetch, done, text);
    });
  const result = await runOn(bytes);
  expect([result, bytes.found]).toEqual([await runOn(objects), objects.found]);
  expect([bytes.paths, bytes.arenas.counts.used]).toEqual([['bytes'], 0]);
  const { data } = JSON.parse(result.slice(0, result.lastIndexOf('}') + 1)) as { data: unknown };
  return { data, errors: bytes.found.map(({ path, extensions }) => [path?.join('.'), extensions['code'], extensions['service']]) };
}

/** Answers for entities by the values of their keys. */
const byId =
  (root: string, entities: Readonly<Record<string, object | null>>, errors?: readonly unknown[]): Respond =>
  ({ variables }) => {
    const { representations } = variables as { representations?: { id: string; __typename: string }[] };
    if (!representations) return root;
    const found = representations.map(({ id, __typename }) => {
      const entity = entities[id] ?? null;
      return entity && { __typename, ...entity };
    });
    return JSON.stringify({ errors, data: { _entities: found } });
  };

/** The object executor requests the names of types; walkers know them. */
const withoutTypes =
  (text: Respond): Respond =>
  (fetch) =>
    fetch.query.includes('__typename') ? text(fetch) : text(fetch).replaceAll(/"__typename":"\w+",?/g, '');

const person = (id: string) => ({ __typename: 'Person', id });
const TOWNS = JSON.stringify({ data: { mayor: person('a'), towns: ['a', 'b', 'a'].map((id) => ({ mayor: person(id) })) } });

describe('a response with errors', () => {
  it.each([
    ['before the data', '{"errors":[%],"data":{"me":{"name":null}}}'],
    ['behind the data', '{"data":{"me":{"name":null}},"errors":[%]}'],
    ['with white space', '{ "errors": [ % ], "data": { "me": { "name": null } } }'],
  ])('keeps what it has, and the path of an error %s', async (_, text) => {
    const sdl = composeSupergraph({ users: 'type Query { me: User } type User { name: String }' });
    const result = await run('{ me { n: name } }', () => text.replace('name', 'n').replace('%', JSON.stringify(error(['me', 'n']))), sdl);
    expect(result).toEqual({ data: { me: { n: null } }, errors: [['me.n', 'NOT_FOUND', 'users']] });
  });

  it.each(['{"errors":[%]}', '{"data":null,"errors":[%]}', '{"errors":[%],"data":null}'])('has no data: %s', async (text) => {
    const { data, errors } = await run('{ __typename me { name } }', () => text.replace('%', JSON.stringify(error(['me']))));
    expect([data, errors]).toEqual([{ __typename: 'Query', me: null }, [['me', 'NOT_FOUND', 'users']]]);
  });

  it('makes all data null where the missing field is not nullable', async () => {
    const { data, errors } = await run('{ users { name } }', () => JSON.stringify({ errors: [error(['users'])], data: null }));
    expect([data, errors]).toEqual([null, [['users', 'NOT_FOUND', 'users']]]);
  });
});

describe('errors of entities', () => {
  it('stand at each place of the entity', async () => {
    const people = { a: { motto: null }, b: { motto: 'B' } };
    const text = byId(TOWNS, people, [error(['_entities', 0, 'motto'])]);
    const { data, errors } = await run('{ mayor { motto } towns { mayor { motto } } }', withoutTypes(text), PLACES);
    const [a, b] = [{ motto: null }, { motto: 'B' }];
    expect(data).toEqual({ mayor: a, towns: [{ mayor: a }, { mayor: b }, { mayor: a }] });
    expect(errors.map(([path]) => path)).toEqual(['mayor.motto', 'towns.0.mayor.motto', 'towns.2.mayor.motto']);
  });

  it('make null of the nearest object or list that may be null, with the error of the entity alone', async () => {
    const root = JSON.stringify({
      data: {
        region: [
          [
            { __typename: 'Town', id: '1' },
            { __typename: 'Town', id: '2' },
          ],
          [],
        ],
      },
    });
    const text = byId(root, { 1: { size: 1 } }, [error(['_entities', 1])]);
    const { data, errors } = await run('{ region { id size } }', withoutTypes(text), PLACES);
    expect(data).toEqual({ region: [[{ id: '1', size: 1 }, null], []] });
    expect(errors).toEqual([['region.0.1', 'NOT_FOUND', 'people']]);
  });

  it('propagate null beyond the entity around them, and report a missing entity that no error explains', async () => {
    const { data, errors } = await run(
      '{ mayor { name } towns { mayor { name } } }',
      withoutTypes(byId(TOWNS, { a: { name: 'A' } })),
      PLACES,
    );
    expect(data).toBeNull();
    expect(errors).toEqual([['towns.1.mayor.name', 'UPSTREAM_ERROR', 'people']]);
  });

  it('of a fetch without data stand at the fields that are missing, with their own names', async () => {
    const users = ['A', 'B'].map((name) => ({ __typename: 'User', id: name, name }));
    const texts = { users: JSON.stringify({ data: { users } }), orders: '{"errors":[{"message":"E"}],"data":null}' };
    const { data, errors } = await run('{ users { name n: count } }', withoutTypes(byService(texts)));
    expect(data).toMatchObject({ users: [{ name: 'A', n: null }, { n: null }] });
    expect(errors.map(([path]) => path)).toEqual(['users.0.n', 'users.1.n']);
  });
});
