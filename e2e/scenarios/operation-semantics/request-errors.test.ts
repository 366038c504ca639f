/** Errors of requests that exceed a limit or name no operation, from a real gateway with each engine. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const sources = {
  shop: {
    sdl: `type Query { items(first: Int, like: Filter): [Item!]! @listSize(slicingArguments: ["first"]) } type Item { id: ID! name: String }
      input Filter { not: Filter name: String }`,
    resolvers: { Query: { items: () => [{ id: '1', name: 'bolt' }] } },
  },
};
const env = { MAX_COST: '100', MAX_INPUT_DEPTH: '2', MAX_SELECTIONS: '12' };

const errorsOf = async (
  federation: Federation,
  query: string,
  { variables, operationName }: { variables?: object; operationName?: string } = {},
) => {
  const { body } = await request(federation.url, { method: 'POST', body: { query, variables, operationName } });
  const { errors } = body as { errors?: readonly { message: string; locations?: object; extensions: { code: string } }[] };
  return errors?.map(({ message, locations, extensions }) => [message, locations, extensions.code]);
};

// GraphQL §7.1.2: an error that belongs to a place in the document has that place in `locations`.
describe.each(['trestle', 'apollo'])('the locations of a request error, with the engine %s,', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(sources, { args: ['--engine', engine], env });
  });
  afterAll(() => federation.stop());

  it('are the declaration of a variable whose value is nested too deep', async () => {
    const query = 'query ($n: Int, $like: Filter) { items(first: $n, like: $like) { id } }';
    const variables = { like: { not: { not: { name: 'x' } } } };
    expect(await errorsOf(federation, query, { variables })).toEqual([
      ['`variables.like`: input object depth 3 exceeds the limit of 2.', [{ line: 1, column: 17 }], 'VALIDATION_ERROR'],
    ]);
  });

  it('are the operation whose fragments have too many selections', async () => {
    const conditions = Array.from({ length: 5 }, (_, i) => `$v${String(i)}: Boolean = true`).join(' ');
    const fields = Array.from({ length: 5 }, (_, i) => `... @include(if: $v${String(i)}) { id name }`).join(' ');
    expect(await errorsOf(federation, `query (${conditions}) { items { ${fields} } }`)).toEqual([
      [
        'The operation has more than 12 selections when its fragments are expanded. Select fewer fields or conditions.',
        [{ line: 1, column: 1 }],
        'VALIDATION_ERROR',
      ],
    ]);
    expect(await errorsOf(federation, '{ items(first: 2) { id name } }')).toBeUndefined();
  });

  it('are the operation whose estimated cost exceeds the limit', async () => {
    const message = 'Estimated cost 1000 exceeds the limit of 100.';
    expect(await errorsOf(federation, '\n  { items(first: 1000) { id } }')).toEqual([
      [message, [{ line: 2, column: 3 }], 'VALIDATION_ERROR'],
    ]);
    const query = 'query A { items { id } }\nquery B($n: Int) { items(first: $n) { id } }';
    expect(await errorsOf(federation, query, { variables: { n: 1000 }, operationName: 'B' })).toEqual([
      [message, [{ line: 2, column: 1 }], 'VALIDATION_ERROR'],
    ]);
    const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
    for (const operation of ['anonymous', 'B'])
      expect(text).toContain(`trestle_operations_over_cost_limit_total{operation="${operation}",outcome="refused"} 1\n`);
  });

  it('are the field without its slicing argument, and nothing is fetched', async () => {
    federation.received.length = 0;
    const message = 'Field `Query.items` requires the argument `first`, by which its size is known; it is not set.';
    expect(await errorsOf(federation, '{\n  items { id }\n}')).toEqual([[message, [{ line: 2, column: 3 }], 'VALIDATION_ERROR']]);
    const query = 'query ($n: Int) { items(first: $n) { id } }';
    for (const variables of [{}, { n: null }])
      expect(await errorsOf(federation, query, { variables })).toEqual([[message, [{ line: 1, column: 19 }], 'VALIDATION_ERROR']]);
    expect(federation.received).toEqual([]);
    expect(await errorsOf(federation, query, { variables: { n: 2 } })).toBeUndefined();
  });

  it('are all operations when the request names none of them', async () => {
    const query = 'query A { items { id } }\nquery B { items { id } }';
    const places = [1, 2].map((line) => ({ line, column: 1 }));
    expect(await errorsOf(federation, query)).toEqual([
      ['The document has several operations; name one of them by operationName', places, 'VALIDATION_ERROR'],
    ]);
    expect(await errorsOf(federation, query, { operationName: 'C' })).toEqual([
      ['The document has no operation named "C"', places, 'VALIDATION_ERROR'],
    ]);
  });

  it.each([
    ['a variable', 'query ($n: Int) { items(first: $n) { id } }', { n: 'secret-1' }],
    ['a variable of another number type', 'query ($n: Int) { items(first: $n) { id } }', { n: 4111111111111111 }],
    ['a field of an input object', 'query ($l: Filter) { items(like: $l) { id } }', { l: { name: { a: 'secret-1' } } }],
    ['an unknown field of an input object', 'query ($l: Filter) { items(like: $l) { id } }', { l: { no: 'secret-1' } }],
    ['a literal', '{ items(first: "secret-1") { id } }', {}],
    ['a number as literal', '{ items(like: 4111111111111111) { id } }', {}],
    ['a default', 'query ($n: Int = "secret-1") { items(first: $n) { id } }', {}],
    ['a document that cannot be parsed', '{ items(first: 1 "secret-1") { id } }', {}],
  ])('quote no value of %s', async (_, query, variables) => {
    const errors = await errorsOf(federation, query, { variables });
    expect(errors).toEqual([[expect.stringMatching(/./), expect.anything(), 'VALIDATION_ERROR']]);
    expect(JSON.stringify(errors)).not.toMatch(/secret|4111/);
  });

  it('report the estimated cost, with arguments, lists and what variables give', async () => {
    const costOf = async (query: string, variables: object) => {
      const headers = { 'trestle-cost': '1' };
      const { body } = await request(federation.url, { method: 'POST', headers, body: { query, variables } });
      return (body as { extensions?: { cost: { estimated: number } } }).extensions?.cost.estimated;
    };
    expect(await costOf('{ items(first: 7) { id } }', {})).toBe(7);
    expect(await costOf('query ($n: Int = 9) { a: items(first: $n) { id } items(first: 10) { id } }', {})).toBe(19);
    expect(await costOf('query ($l: Filter) { items(like: $l, first: 1) { id } }', { l: { not: { name: 'x' } } })).toBe(3);
    expect(await costOf('{ __schema { types { name } } }', {})).toBeGreaterThan(10);
  });
});
