/** An invalid representation does not affect the others. */
import { buildSubgraphSchema } from '@apollo/subgraph';
import { describe, expect, it } from '@jest/globals';
import { fail } from '@trestle/schema/errors';
import { type ExecutionResult, execute, parse } from 'graphql';
import { applyEntities } from './entities.ts';

const SDL = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@inaccessible"])
  type Query { any: Int }
  type Place @key(fields: "id") @key(fields: "reference") { id: ID! reference: ID! @inaccessible name: String! }
  type Thing @key(fields: "reference", resolvable: false) { id: ID! reference: ID! @inaccessible }
`;

async function run(
  representations: readonly unknown[],
  contextValue?: object,
  onFind: () => void = () => undefined,
): Promise<ExecutionResult> {
  const find = ({ id }: { id: string }) => {
    onFind();
    if (id === 'broken') return Promise.reject(fail('SERVICE_UNAVAILABLE', 'The database cannot be reached'));
    return Promise.resolve(id === 'none' ? null : { id, name: `Place ${id}` });
  };
  const schema = buildSubgraphSchema([{ typeDefs: parse(SDL), resolvers: { Place: { __resolveReference: find } } }]);
  applyEntities(schema);
  const document = parse('query ($of: [_Any!]!) { _entities(representations: $of) { ... on Place { id reference name } } }');
  return execute({ schema, document, variableValues: { of: representations }, contextValue });
}
const place = (id: string) => ({ id, reference: id, name: `Place ${id}` });
const placesOf = ({ errors = [] }: ExecutionResult) => errors.map(({ path }) => path);

describe('_entities', () => {
  it('finds an entity by its id, by its reference, and by a whole number as id (GraphQL §3.5.5)', async () => {
    const sent = [
      { __typename: 'Place', id: 'a' },
      { __typename: 'Place', reference: 'b' },
      { __typename: 'Place', id: 7 },
    ];
    expect(await run(sent)).toEqual({ data: { _entities: [place('a'), place('b'), place('7')] } });
  });

  // Federation subgraph specification, Query._entities: an entity or null for each representation, in their order.
  it.each([
    ['without an id', { __typename: 'Place' }],
    ['with an object as id', { __typename: 'Place', id: { a: 1 } }],
    ['with a fraction as id', { __typename: 'Place', id: 1.5 }],
    ['with null as id', { __typename: 'Place', id: null }],
    ['with U+0000 in the id', { __typename: 'Place', id: 'a\0' }],
    ['with a lone surrogate in the id', { __typename: 'Place', id: '\ud800' }],
    ['with an id of 101 characters', { __typename: 'Place', id: 'x'.repeat(101) }],
    ['without a type', { id: 'a' }],
    ['of an unknown type', { __typename: 'Nothing', id: 'a' }],
    ['of a scalar type', { __typename: 'String', id: 'a' }],
    ['of a type that another subgraph resolves', { __typename: 'Thing', reference: 'a' }],
    ['of a name that every object has', { __typename: 'constructor', id: 'a' }],
    ['that is a string', 'Place'],
    ['that is a list', [{ __typename: 'Place', id: 'a' }]],
    ['whose resolver fails', { __typename: 'Place', id: 'broken' }],
  ])('returns null and one error with a path for a representation %s, and resolves the others', async (_, faulty) => {
    const result = await run([
      { __typename: 'Place', id: 'a' },
      faulty,
      { __typename: 'Place', id: 'none' },
      { __typename: 'Place', id: 'b' },
    ]);
    expect(result.data).toEqual({ _entities: [place('a'), null, null, place('b')] });
    expect(placesOf(result)).toEqual([['_entities', 1]]);
  });

  it('returns null for every invalid representation, and an error with a path for the first 100', async () => {
    const sent = Array.from({ length: 300 }, (_, i) => ({ __typename: 'Place', id: i % 2 === 0 ? String(i) : '\0' }));
    const result = await run(sent);
    expect(result.data).toEqual({ _entities: sent.map(({ id }) => (id === '\0' ? null : place(id))) });
    expect(placesOf(result)).toEqual(Array.from({ length: 100 }, (_, i) => ['_entities', 2 * i + 1]));
  });

  it('resolves a long list in parts, between which other requests are handled, and keeps its order and the path of each error', async () => {
    const ids = Array.from({ length: 6000 }, (_, i) => (i % 2600 === 7 ? 'broken' : i % 3 === 0 ? 'none' : String(i)));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const result = await run(ids.map((id) => ({ __typename: 'Place', id })));
    isOver = true;
    expect(result.data).toEqual({ _entities: ids.map((id) => (['broken', 'none'].includes(id) ? null : place(id))) });
    expect(placesOf(result)).toEqual([7, 2607, 5207].map((index) => ['_entities', index]));
    expect(turns).toBeGreaterThan(1);
  });

  it('resolves no further part of a long list when the client has disconnected', async () => {
    let found = 0;
    const context = { isAbandoned: () => found > 0 };
    const sent = Array.from({ length: 6000 }, (_, i) => ({ __typename: 'Place', id: String(i) }));
    const { errors } = await run(sent, context, () => found++);
    expect(found).toBe(2500);
    expect(errors?.map(({ message }) => message)).toEqual(['The client has disconnected.']);
  });

  it('refuses more than 100,000 representations at once', async () => {
    const { errors } = await run(Array.from({ length: 100_001 }, () => ({})));
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('100001')]);
  });
});
