import { describe, expect, it } from '@jest/globals';
import { LIST_LENGTH, NAMED_LENGTHS } from '@trestle/schema/lengths';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema, execute, isInputObjectType, isObjectType, parse } from 'graphql';
import { applyArgumentChecks } from './argument-checks.ts';

const SDL = `
  type Query { find(id: ID, after: String, filter: UserFilter, names: [String!], searchUsers: Int): Int, searchUsers(query: String!): Int }
  type Mutation { change(id: ID!, input: Change!): Int }
  input UserFilter { search: String, ids: [ID], email: String, not: UserFilter }
  input Change { text: String, ownerId: ID, tags: [String!] }
`;

async function faultsOf(document: string, variables: Record<string, unknown> = {}): Promise<unknown> {
  const schema = buildSchema(SDL);
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const field of Object.values(type?.getFields() ?? {})) field.resolve = () => 1;
  applyArgumentChecks(schema);
  const { errors = [] } = await execute({ schema, document: parse(document), variableValues: variables });
  return errors.flatMap(({ originalError }) =>
    (originalError as unknown as { details: { field: string }[] }).details.map(({ field }) => field),
  );
}
const FIND =
  'query ($id: ID, $after: String, $filter: UserFilter, $names: [String!]) { find(id: $id, after: $after, filter: $filter, names: $names) }';

describe('the arguments of a field', () => {
  it.each([
    ['an id of 101 characters', { id: 'x'.repeat(101) }, ['id']],
    ['an id with U+0000', { id: '\0' }, ['id']],
    ['a lone surrogate in a filter', { filter: { search: '\udfff' } }, ['filter.search']],
    ['0.9 MB of search text', { filter: { search: 'x'.repeat(900_000) } }, ['filter.search']],
    ['a long string within itself', { filter: { not: { search: 'x'.repeat(201) } } }, []],
    ['a cursor of 5,000 characters', { after: 'x'.repeat(5000) }, ['after']],
    ['a list of 101 items', { names: Array.from({ length: 101 }, () => 'a') }, ['names']],
    ['faulty items', { names: ['a', '\0'], filter: { ids: [null, 'a', 'x'.repeat(101)] } }, ['filter.ids.2', 'names.1']],
  ])('are refused with VALIDATION_ERROR for %s', async (_, variables, fields) => {
    expect(await faultsOf(FIND, variables)).toEqual(fields);
  });

  it('are accepted up to their limits, counted in characters', async () => {
    const filter = { search: '😀'.repeat(200), email: 'x'.repeat(254), ids: Array.from({ length: LIST_LENGTH.max }, () => 'a') };
    expect(await faultsOf(FIND, { id: 'x'.repeat(100), after: 'x'.repeat(4096), filter, names: null })).toEqual([]);
    expect(await faultsOf('{ searchUsers(query: "a") }')).toEqual([]);
  });

  it('of a mutation are refused for ids only, named without `input.`; other strings are left to the rules of the domain', async () => {
    const change = 'mutation ($input: Change!) { change(id: "a", input: $input) }';
    expect(await faultsOf(change, { input: { text: 'x'.repeat(100_000) } })).toEqual([]);
    expect(await faultsOf(change, { input: { ownerId: '\0' } })).toEqual(['ownerId']);
  });
});

describe('the table of lengths', () => {
  it('names only arguments and input fields of the API', async () => {
    const schema = buildSchema(readApiSdl());
    const known = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (isInputObjectType(type)) return Object.keys(type.getFields()).map((field) => `${type.name}.${field}`);
      if (!isObjectType(type)) return [];
      return Object.values(type.getFields()).flatMap((field) => field.args.map(({ name }) => `${type.name}.${field.name}(${name}:)`));
    });
    await Promise.resolve();
    expect(NAMED_LENGTHS.filter((coordinate) => !known.includes(coordinate))).toEqual([]);
  });
});
