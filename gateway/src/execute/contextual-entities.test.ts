/** Contextual arguments; graphql-js on one schema says what is right. */
import { describe, expect, it } from '@jest/globals';
import { graphqlSync } from 'graphql';
import { type Json, LEVELS, MERGED, ROOT, SUBGRAPHS, federate, reference } from './test-contexts.ts';

const ask = federate(SUBGRAPHS);
const askLevels = federate(LEVELS);

describe('contextual arguments', () => {
  it.each([
    '{ users { transactions { amount } } }',
    '{ users { id transactions { id fee note amount(unit: "euro") b: amount(unit: "dollar") } } }',
    '{ users { transactions { greeting amount other { amount greeting fee } } } }',
    '{ users { transactions { amount owner { id transactions { amount fee owner { transactions { id amount greeting } } } } } } }',
    '{ users { currency: name transactions { currency: id amount } } }',
    '{ users { currency settings { locale: __typename } transactions { greeting } } }',
    '{ a: me(id: "u1") { transactions { amount } } b: me(id: "u2") { transactions { amount fee } c: transactions { fee } } }',
    '{ me(id: "u3") { transactions { amount fee } } none: me(id: "x") { transactions { amount } } }',
    'query ($yes: Boolean = true) { users { transactions { amount @include(if: $yes) fee @skip(if: $yes) } } }',
    'query ($yes: Boolean = true) { users { id transactions { id amount @skip(if: $yes) } } }',
    'query ($yes: Boolean = true) { users { transactions { ... @include(if: $yes) { amount @skip(if: $yes) other { id } } fee @skip(if: $yes) } } }',
    'query ($yes: Boolean = true, $no: Boolean = false) { users { transactions { amount @include(if: $no) b: amount @include(if: $yes) } } }',
    'query ($representations: String = "x", $contextualArgument_2_0: String) { users { transactions { amount(unit: $representations) b: amount(unit: $contextualArgument_2_0) } } }',
    'fragment F on Transaction { amount other { ...G } } fragment G on Transaction { fee } { users { transactions { ...F } } }',
  ])('get the values of the nearest object around each entity: %s', async (query) => {
    const expected = JSON.parse(JSON.stringify(graphqlSync({ schema: MERGED, source: query, rootValue: ROOT }))) as {
      data: Json;
      errors?: [];
    };
    const { data, errors } = await ask(query);
    expect(data).toEqual(expected.data);
    const pathsOf = (found: readonly object[] = []) => found.map((each) => JSON.stringify((each as { path: unknown }).path)).sort();
    expect(pathsOf(errors)).toEqual(pathsOf(expected.errors));
  });

  it('fetch entities with equal values as one group, each representation once, in one request', async () => {
    const { sent } = await ask('{ users { transactions { fee } } }');
    const fees = sent.filter(({ service }) => service === 'fees');
    expect(fees.map(({ variables }) => variables)).toEqual([
      {
        contextualArgument_2_0_0: 'EUR',
        representations_0: ['t1', 't2', 't4'].map((id) => ({ __typename: 'Transaction', id })),
        contextualArgument_2_0_1: 'USD',
        representations_1: ['t1', 't3'].map((id) => ({ __typename: 'Transaction', id })),
        contextualArgument_2_0_2: null,
        representations_2: [{ __typename: 'Transaction', id: 't2' }],
      },
    ]);
  });

  it('are not fetched apart from what is around them: an operation with @defer that has any is executed as a whole', async () => {
    expect(await ask('{ users { id ... @defer { name } } }')).toMatchObject({ isDivided: true });
    const { data } = await ask('{ users { transactions { amount fee } } }');
    for (const query of [
      '{ users { ... @defer { transactions { amount fee } } } }',
      '{ users { transactions { amount ... @defer { fee } } } }',
      '{ users { transactions { amount fee } ... @defer { transactions { amount } } } }',
    ])
      expect(await ask(query)).toMatchObject({ data, isDivided: false });
  });

  it.each([
    [
      'a union, by type conditions and with arguments of the selection',
      '{ holders { ... on Person { ledgers { limit } } ... on Company { segment(of: 1) ledgers { limit } } } }',
      {
        holders: [
          { ledgers: [{ limit: 'ap1:gold' }] },
          { segment: 'c1/1', ledgers: [{ limit: 'ac1:c1/7' }, { limit: 'same:c1/7' }] },
          { ledgers: [{ limit: 'ap2:null' }] },
        ],
      },
    ],
    [
      'the query itself',
      '{ shops { accounts { tax } } }',
      { shops: ['EUR', 'USD'].map((id) => ({ accounts: [{ tax: `a${id}:eu` }, { tax: 'same:eu' }] })) },
    ],
    [
      'the nearest of several types',
      '{ shops { accounts { rate inner { rate transfers { rate } } transfers { rate } } } }',
      {
        shops: ['EUR', 'USD'].map((code) => ({
          accounts: [`a${code}`, 'same'].map((id) => ({
            rate: `${id}:${code}`,
            inner: { rate: `i${id}:own ${id}`, transfers: [{ rate: `ti${id}:own i${id}` }] },
            transfers: [{ rate: `t${id}:own ${id}` }],
          })),
        })),
      },
    ],
    [
      'an object around an interface object',
      '{ shops { assets { __typename title accounts { rate } ... on Disc { accounts { transfers { rate } } } } } }',
      {
        shops: ['EUR', 'USD'].map((code) => ({
          assets: [
            { __typename: 'Book', title: `title b${code}`, accounts: [{ rate: `ab${code}:${code}` }] },
            {
              __typename: 'Disc',
              title: `title d${code}`,
              accounts: [{ rate: `ad${code}:${code}`, transfers: [{ rate: `tad${code}:own ad${code}` }] }],
            },
          ],
        })),
      },
    ],
  ])('get the value of %s', async (_, query, expected) => {
    const { data, errors } = await askLevels(query);
    expect([data, errors]).toEqual([expected, []]);
  });

  it('are not needed for entities of a type without them', async () => {
    const key = (id: string) => ({ __typename: id.startsWith('a') ? 'A' : 'B', id });
    const links = { ...reference, link: ({ id }: { id: string }) => ({ id: `l${id}` }) };
    const askItems = federate({
      items: {
        sdl: `union Item = A | B type Query { items: [Item!]! }
          type A @key(fields: "id") { id: ID! value: String } type B @key(fields: "id") { id: ID! value: String }`,
        resolvers: { Query: { items: () => ['b1', 'a1'].map((id) => ({ ...key(id), value: 'v' })) } },
      },
      links: {
        sdl: `type A @key(fields: "id") @context(name: "item") { id: ID! value: String @external link: Link }
          type B @key(fields: "id") @context(name: "item") { id: ID! value: String @external link: Link }
          type Link @key(fields: "id") { id: ID! text(own: String @fromContext(field: "$item { value }")): String }`,
        resolvers: {
          ...{ A: links, B: links },
          Link: { ...reference, text: ({ id }: { id: string }, { own }: { own?: string }) => `${id}:${String(own)}` },
        },
      },
    });
    const { data, errors } = await askItems('{ items { ... on B { link { id } } ... on A { link { text } } } }');
    expect([data, errors]).toEqual([{ items: [{ link: { id: 'lb1' } }, { link: { text: 'la1:v' } }] }, []]);
  });

  const many = (currencies: readonly (string | undefined)[], amount: (id: string) => unknown) =>
    federate({
      ...SUBGRAPHS,
      accounts: {
        sdl: SUBGRAPHS['accounts']?.sdl ?? '',
        resolvers: {
          Query: { users: () => currencies.map((_, i) => ({ id: String(i) })) },
          User: {
            __resolveReference: (key: object) => key,
            currency: ({ id }: { id: string }) => {
              const currency = currencies[Number(id)];
              if (currency === undefined) throw new Error('unknown');
              return currency;
            },
          },
        },
      },
      pay: {
        sdl: SUBGRAPHS['pay']?.sdl ?? '',
        resolvers: {
          User: { ...reference, transactions: ({ id }: { id: string }) => [{ id }] },
          Transaction: reference,
        },
      },
      fees: {
        sdl: SUBGRAPHS['fees']?.sdl ?? '',
        resolvers: { Transaction: { ...reference, fee: ({ id }: { id: string }, { code }: { code: string }) => amount(`${id}:${code}`) } },
      },
    });

  it('fetch at most 20 groups in one request', async () => {
    const currencies = Array.from({ length: 45 }, (_, i) => `c${String(i)}`);
    const { data, sent } = await many(currencies, (text) => text)('{ users { transactions { fee } } }');
    expect(data).toEqual({ users: currencies.map((code, i) => ({ transactions: [{ fee: `${String(i)}:${code}` }] })) });
    expect(sent.filter(({ service }) => service === 'fees').length).toBe(3);
  });

  it('report the error of an entity at its places, with several groups', async () => {
    const { data, errors } = await many(['a', 'b', 'b'], (text) => {
      if (text === '1:b') throw new Error('no');
      return text;
    })('{ users { transactions { fee } } }');
    expect(data).toEqual({ users: ['0:a', null, '2:b'].map((fee) => ({ transactions: [{ fee }] })) });
    expect(errors?.map(({ path }) => path)).toEqual([['users', 1, 'transactions', 0, 'fee']]);
  });

  it('give null for a value that could not be fetched, with the error of its subgraph', async () => {
    const { data, errors } = await many(['a', undefined], (text) => text)('{ users { transactions { fee } } }');
    expect(data).toEqual({ users: ['0:a', '1:null'].map((fee) => ({ transactions: [{ fee }] })) });
    expect(errors?.map(({ message }) => message)).toEqual(['unknown']);
  });
});
