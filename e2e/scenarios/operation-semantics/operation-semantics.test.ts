/** What the GraphQL specification says of variables, conditions and the order of fields, asked of a real gateway over several subgraphs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildClientSchema, getIntrospectionQuery, isInputObjectType } from 'graphql';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const entity = { __resolveReference: (key: object) => key };
const withOneOf = (sdl: string) => sdl.replace(/(input One\s+@join__type\([^)]*\))/, '$1 @oneOf');

let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(
    {
      a: {
        sdl: `type Query { me: User ps: [P] pick(one: One): String }
          type User @key(fields: "id") { id: ID! name: String }
          interface P { id: ID } type M implements P { id: ID } type B implements P { id: ID } type C { n: Int } union X = M | B | C
          input One { a: Int b: String }`,
        resolvers: {
          Query: {
            me: () => ({ id: 'u1', name: 'Ada' }),
            ps: () => [
              { __typename: 'M', id: 'm1' },
              { __typename: 'B', id: 'b1' },
            ],
            pick: (_: unknown, args: object) => JSON.stringify(args),
          },
          P: { __resolveType: (each: { __typename: string }) => each.__typename },
        },
      },
      b: {
        sdl: 'type User @key(fields: "id") { id: ID! greet(with: String): String fails: Int }',
        resolvers: {
          User: {
            ...entity,
            fails: () => {
              throw new Error('It fails');
            },
            greet: (_: unknown, args: { with: string }) => `hello ${args.with}`,
          },
        },
      },
    },
    // A composition that does not know `@oneOf` as a directive of its own leaves it undefined.
    { patch: withOneOf },
  );
});
afterAll(() => federation.stop());
const ask = async (query: string, variables?: Record<string, unknown>) => (await federation.ask(query, variables)).body;

describe('a variable', () => {
  // GraphQL §2.10: any Name is a name of a variable.
  it('may have the name of the variable of entity fetches, `representations`', async () => {
    const query =
      'query ($representations: String, $representations_: Boolean!) { me { greet(with: $representations) name @include(if: $representations_) } }';
    expect(await ask(query, { representations: 'you', representations_: false })).toEqual({ data: { me: { greet: 'hello you' } } });
    expect(await ask('query ($representations: String = "all") { me { greet(with: $representations) } }')).toEqual({
      data: { me: { greet: 'hello all' } },
    });
  });

  it('may have the name of an inherited property, such as `toString`', async () => {
    const body = (value: boolean) =>
      `{"query": "query ($__proto__: Boolean!) { me { id name @include(if: $__proto__) } }", "variables": {"__proto__": ${String(value)}}}`;
    const headers = { 'content-type': 'application/json' };
    const send = async (value: boolean) => (await request(federation.url, { method: 'POST', body: body(value), headers })).body;
    expect([await send(true), await send(false)]).toEqual([{ data: { me: { id: 'u1', name: 'Ada' } } }, { data: { me: { id: 'u1' } } }]);
  });

  // GraphQL §6.4.1: a null value for an argument of a non-null type is an error.
  it('is an error with its location when it is null and the argument of a condition', async () => {
    const query = 'query ($b: Boolean = true) { me @include(if: $b) { id } }';
    expect(await ask(query, {})).toEqual({ data: { me: { id: 'u1' } } });
    expect(await ask(query, { b: null })).toEqual({
      errors: [
        {
          message: 'Argument "if" of non-null type "Boolean!" must not be null: variable "$b" is null.',
          locations: [{ line: 1, column: 8 }],
          extensions: {
            code: 'VALIDATION_ERROR',
            details: [{ field: 'variables.b', message: 'must not be null where it is a condition' }],
            requestId: expect.any(String),
          },
        },
      ],
    });
  });

  // GraphQL §5.8.3: a document that uses a variable which it does not declare is not valid, also one to a subgraph.
  it('is sent to a subgraph with its declaration, or not at all', async () => {
    const query = 'query Q($s: Boolean! = false) { ps { ...F } } fragment F on X { ... on M { __typename } ... on C { n @skip(if: $s) } }';
    expect(await ask(query)).toEqual({ data: { ps: [{ __typename: 'M' }, {}] } });
  });
});

describe('the fields of a result', () => {
  // GraphQL §6.3.2: a field stands where the first selection of it stands that is not skipped.
  it.each([
    ['{ me { id @skip(if: $s) name id } }', '{"id":"u1","name":"Ada"}', '{"name":"Ada","id":"u1"}'],
    [
      '{ me { ... @skip(if: $s) { id greet(with: "x") } name id } }',
      '{"id":"u1","greet":"hello x","name":"Ada"}',
      '{"name":"Ada","id":"u1"}',
    ],
    [
      '{ me { id @include(if: $s) name id @skip(if: $s) __typename } }',
      '{"name":"Ada","id":"u1","__typename":"User"}',
      '{"id":"u1","name":"Ada","__typename":"User"}',
    ],
  ])('of %s stand in the order of the selections that are not skipped', async (selection, without, skipped) => {
    const text = async (s: boolean) => (await federation.ask(`query ($s: Boolean!) ${selection}`, { s })).text;
    expect([await text(false), await text(true)]).toEqual([`{"data":{"me":${without}}}`, `{"data":{"me":${skipped}}}`]);
  });
});

describe('@oneOf in a supergraph that does not define it', () => {
  // GraphQL §3.10.1: exactly one field of a OneOf input object is given.
  it('is enforced for literals and variables, and is in the introspection', async () => {
    expect(await ask('{ pick(one: { a: 1 }) }')).toEqual({ data: { pick: '{"one":{"a":1}}' } });
    expect((await ask('{ pick(one: { a: 1, b: "x" }) }')).errors).toHaveLength(1);
    expect((await ask('query ($o: One) { pick(one: $o) }', { o: { a: 1, b: 'x' } })).errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('Exactly one key must be specified for OneOf type "One".') }),
    ]);
    const schema = buildClientSchema(
      (await ask(getIntrospectionQuery({ oneOf: true }))).data as unknown as Parameters<typeof buildClientSchema>[0],
    );
    const type = schema.getType('One');
    expect(isInputObjectType(type) && type.isOneOf).toBe(true);
  });

  it('rejects a supergraph that has it on a type with a required field, and the one before is served', async () => {
    await federation.replaceSupergraph(federation.supergraphSdl.replace(/b: String(?=\s*\})/, 'b: String!'));
    const isRefused = (line: string) => line.includes('refused a new supergraph') && line.includes('One.b must be nullable');
    await until(() => Promise.resolve(federation.gateway.lines.some(isRefused)));
    expect(await ask('{ pick(one: { b: "x" }) me { name } }')).toEqual({ data: { pick: '{"one":{"b":"x"}}', me: { name: 'Ada' } } });
  });
});

// GraphQL §2.7: an alias is any Name; §3.6.2: `__typename` is reserved for fields, not for aliases.
describe('the alias `__typename` of another field', () => {
  it('is the key of that field in the result, also when the gateway needs the type of the object', async () => {
    expect(await ask('{ me { __typename: name greet(with: "a") } ps { __typename: id ... on M { kind: __typename } } }')).toEqual({
      data: { me: { __typename: 'Ada', greet: 'hello a' }, ps: [{ __typename: 'm1', kind: 'M' }, { __typename: 'b1' }] },
    });
    expect(await ask('{ __typename: me { id } __schema { __typename: queryType { name } } }')).toEqual({
      data: { __typename: { id: 'u1' }, __schema: { __typename: { name: 'Query' } } },
    });
  });

  it('is the segment of that field in the path of an error', async () => {
    const { errors = [] } = await ask('{ me { __typename: fails } }');
    expect(errors.map(({ path }) => path)).toEqual([['me', '__typename']]);
  });
});
