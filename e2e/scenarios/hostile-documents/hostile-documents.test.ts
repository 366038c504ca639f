/** Documents that were written to take a gateway's time and memory, against a real gateway, and what honest clients send beside them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type IntrospectionOptions, buildClientSchema, getIntrospectionQuery } from 'graphql';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const MAX_RESPONSE_BYTES = 200_000;

let federation: Federation;
beforeAll(async () => {
  const user = { id: 'u1', name: 'Ada', friend: { id: 'u2', name: 'Bob' } };
  federation = await startFederation(
    {
      users: {
        sdl: `type Query { user: User users(first: Int): [User!] @listSize(slicingArguments: ["first"]) }
          "A person → …" type User { id: ID! name: String friend: User large(bytes: Int!): String color: Color }
          enum Color { "→ ünïcödé 🌉" RED }`,
        resolvers: {
          Query: { user: () => user, users: (_: unknown, { first }: { first: number }) => Array.from({ length: first }, () => user) },
          User: { large: (_: unknown, { bytes }: { bytes: number }) => '→'.repeat(Math.ceil(bytes / 3)) },
        },
      },
    },
    { env: { MAX_RESPONSE_BYTES: String(MAX_RESPONSE_BYTES) } },
  );
});
afterAll(() => federation.stop());

/** Fragments of which each spreads the next one as `write` says; the last one has `last`. */
const chain = (levels: number, { on, last }: { on: string; last: string }, write: (next: string, level: number) => string) =>
  `${Array.from({ length: levels }, (_, i) => `fragment F${String(i)} on ${on} { ${write(`F${String(i + 1)}`, i)} }`).join(' ')} fragment F${String(levels)} on ${on} { ${last} }`;

// Contract §6: aliases 30.
describe('aliases', () => {
  it.each(['user { id }', '__typename'])('are accepted up to 30 for the root field %s, and refused beyond', async (field) => {
    const aliased = (count: number) => `{ ${Array.from({ length: count }, (_, i) => `a${String(i)}: ${field}`).join(' ')} }`;
    const accepted = (await federation.ask(aliased(30))).body;
    expect([accepted.errors, Object.keys(accepted.data ?? {})]).toHaveProperty('1.length', 30);
    const refused = (await federation.ask(aliased(31))).body;
    expect(refused.errors?.map(({ message }) => message)).toEqual(['Alias count 31 exceeds the limit of 30.']);
  });
});

describe('fragments that spread each other many times', () => {
  const users = { data: { user: { id: 'u1', name: 'Ada' } } };
  it.each([
    ['twice', `{ user { ...F0 } } ${chain(30, { on: 'User', last: 'id name' }, (next) => `...${next} ...${next}`)}`, users],
    ['twice, at the root', `{ ...F0 } ${chain(30, { on: 'Query', last: 'user { id name }' }, (next) => `...${next} ...${next}`)}`, users],
    [
      'once more within a fragment',
      `{ user { ...F0 } } ${chain(30, { on: 'User', last: 'id name' }, (next) => `...${next} ... @include(if: true) { ...${next} }`)}`,
      users,
    ],
    [
      'twice within introspection',
      `{ __schema { queryType { ...F0 } } } ${chain(30, { on: '__Type', last: 'name' }, (next) => `...${next} ofType { ...${next} }`).replaceAll(/ofType \{ \.\.\.F(?!30)\d+ \}/g, '')}`,
      { data: { __schema: { queryType: { name: 'Query', ofType: null } } } },
    ],
  ])('are answered when each spreads the next one %s', async (_, query, expected) => {
    expect((await federation.ask(query)).body).toEqual(expected);
  });

  it('are refused with the limit when their conditions make every one of them different', async () => {
    const variables = Array.from({ length: 20 }, (_, i) => `$v${String(i)}: Boolean = true`).join(' ');
    const bomb = chain(
      20,
      { on: 'User', last: 'id' },
      (next, i) => `...${next} @include(if: $v${String(i)}) ...${next} @skip(if: $v${String(i)})`,
    );
    const { body } = await federation.ask(`query (${variables}) { user { ...F0 } } ${bomb}`);
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: 'The operation has more than 2000 selections when its fragments are expanded. Select fewer fields or conditions.',
        extensions: expect.objectContaining({ code: 'VALIDATION_ERROR' }),
      }),
    ]);
  });

  it('do not hold up documents of other kinds', async () => {
    const variables = Array.from({ length: 12 }, (_, i) => `$v${String(i)}: Boolean = true`).join(' ');
    const bomb = chain(
      12,
      { on: 'User', last: 'id' },
      (next, i) => `...${next} @include(if: $v${String(i)}) ...${next} @skip(if: $v${String(i)})`,
    );
    const flood = Array.from({ length: 20 }, (_, n) => federation.ask(`query Bomb${String(n)}(${variables}) { user { ...F0 } } ${bomb}`));
    const honest = await Promise.all(Array.from({ length: 10 }, (_, n) => federation.ask(`query Honest${String(n)} { user { id } }`)));
    expect(honest.map(({ body }) => body)).toEqual(honest.map(() => ({ data: { user: { id: 'u1' } } })));
    for (const { status } of await Promise.all(flood)) expect([200, 400]).toContain(status);
  });
});

describe('introspection', () => {
  const options: IntrospectionOptions[] = [
    {},
    { descriptions: false },
    { specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true },
    {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    },
  ];
  it.each(options)('is answered as tools ask for it: %j', async (option) => {
    const { body } = await federation.ask(getIntrospectionQuery(option));
    expect(body.errors).toBeUndefined();
    const schema = buildClientSchema(body.data as unknown as Parameters<typeof buildClientSchema>[0]);
    // RFC 8259 §8.1: JSON text is encoded using UTF-8.
    if (option.descriptions !== false) expect(schema.getType('User')?.description).toBe('A person → …');
  });

  // GraphQL §3.13.2: the field must be included when `if` is true.
  it('is included by a variable that is true', async () => {
    const query =
      'query ($b: Boolean!, $n: String!) { __schema @include(if: $b) { queryType { name } } t: __type(name: $n) @skip(if: $b) { name } user { id } }';
    const user = { id: 'u1' };
    expect((await federation.ask(query, { b: true, n: 'User' })).body).toEqual({
      data: { __schema: { queryType: { name: 'Query' } }, user },
    });
    expect((await federation.ask(query, { b: false, n: 'User' })).body).toEqual({ data: { t: { name: 'User' }, user } });
  });

  it('is refused when it is asked for 400 times in one operation', async () => {
    const query = `{ ${Array.from({ length: 400 }, (_, i) => `a${String(i)}: __schema { types { name } }`).join(' ')} }`;
    const { body } = await federation.ask(query);
    expect(body.errors?.map(({ message }) => message)).toEqual([
      'Alias count 400 exceeds the limit of 30.',
      'Root field count 400 exceeds the limit of 50.',
    ]);
  });

  it('is refused when its result is larger than a response may be', async () => {
    const all = getIntrospectionQuery()
      .replace(/^[^{]*\{/, '')
      .replace(/\}\s*fragment FullType[\s\S]*$/, '');
    const fragments = /fragment FullType[\s\S]*$/.exec(getIntrospectionQuery())?.[0] ?? '';
    const query = `{ ${Array.from({ length: 15 }, (_, i) => all.replace('__schema', `a${String(i)}: __schema`)).join(' ')} } ${fragments}`;
    const { body } = await federation.ask(query);
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: `The introspection result exceeds the limit of ${String(MAX_RESPONSE_BYTES)} bytes. Select fewer fields.`,
      }),
    ]);
  });
});

describe('a response', () => {
  it('is an error with a code where it would exceed the largest size, and the gateway serves on', async () => {
    const ask = (first: number) => federation.ask('query ($n: Int!) { users(first: $n) { id large(bytes: 10000) } }', { n: first });
    expect((await ask(10)).body.data?.['users']).toHaveLength(10);
    for (const { body } of await Promise.all([ask(30), ask(1000)])) {
      expect(body.data).toBeNull();
      expect(body.errors).toEqual([
        {
          message: `The response exceeds the limit of ${String(MAX_RESPONSE_BYTES)} bytes. Select fewer fields or smaller pages.`,
          extensions: { code: 'VALIDATION_ERROR', requestId: expect.any(String) },
        },
      ]);
    }
    expect((await ask(10)).body.data?.['users']).toHaveLength(10);
  });
});
