/** Contextual arguments, planned and executed on real subgraph schemas without a network; graphql-js on one schema says what is right. */
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, buildSchema, execute as executeQuery, graphqlSync, parse } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from '../plan/planner.ts';
import { link } from '../program/operation.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type Executed, type ExecutionRequest, execute } from './execute.ts';
import { addAliases, readVariables } from './variables.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@context", "@fromContext", "@interfaceObject", "@shareable"])';

interface Source {
  readonly sdl: string;
  readonly resolvers: object;
}
type Json = Record<string, unknown>;

/** Returns a function that executes a query on subgraphs, which are executed by graphql-js. */
function federate(sources: Record<string, Source>) {
  const typeDefs = Object.entries(sources).map(([name, { sdl }]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl = '', errors: faults } = composeServices(typeDefs);
  if (faults) throw new Error(faults.map(({ message }) => message).join('\n'));
  const planner = createPlanner(supergraphSdl, DEFAULT_LIMITS);
  const schemas = new Map<string, GraphQLSchema>(
    typeDefs.map(({ name, typeDefs: own }) => {
      const resolvers = sources[name]?.resolvers as NonNullable<Parameters<typeof buildSubgraphSchema>[0]>;
      return [name, buildSubgraphSchema({ typeDefs: own, resolvers } as unknown as Parameters<typeof buildSubgraphSchema>[0])];
    }),
  );
  return async (query: string, variables: Json = {}) => {
    const prepared = planner.prepare({ query, operationName: undefined, labels: [] });
    if (!('program' in prepared)) return { refused: prepared, sent: [] };
    const operation = link(prepared.program);
    const conditions = readVariables(prepared.program.variables, variables);
    const sent: { service: string; query: string; variables: Json }[] = [];
    const send: ExecutionRequest['send'] = ({ service, body }, done) => {
      const one = { service, ...(JSON.parse(body) as { query: string; variables: Json }) };
      sent.push(one);
      const result = executeQuery({
        schema: schemas.get(service) as GraphQLSchema,
        document: parse(one.query),
        variableValues: one.variables,
      });
      void Promise.resolve(result).then((answer) => {
        done(null, JSON.parse(JSON.stringify(answer)) as SubgraphResult);
      });
    };
    const all = addAliases(prepared.program.variables, variables);
    const executed = await new Promise<Executed>((resolve) => {
      execute({ operation, variables: all, conditions, context: {} as RequestContext, send }, resolve);
    });
    const { data, errors: found } = executed;
    const request = {
      conditions,
      introspection: {},
      buffer: Buffer.alloc(2048),
      maxBytes: 1e9,
      faults: [],
      noteMissing: found.noteMissing,
    };
    const written = found.hasFailures ? null : operation.compiled.write(data, request);
    const { bytes, length } = written ?? operation.compiled.explain(data, request);
    const errors = found.finish(request.faults);
    const result = JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: Json | null };
    return { data: result.data, errors, sent };
  };
}

const users = [
  { id: 'u1', name: 'Ada', currency: 'EUR', settings: { locale: 'de' } },
  { id: 'u2', name: 'Bob', currency: 'USD', settings: null },
  { id: 'u3', name: 'Cem', currency: null, settings: { locale: null } },
  { id: 'u4', name: 'Dan', currency: 'EUR', settings: { locale: 'fr' } },
];
const ownedBy: Record<string, string[]> = { u1: ['t1', 't2'], u2: ['t1', 't3'], u3: ['t2'], u4: ['t2', 't4'] };
/** What depends on the context, as one text, so that a wrong value shows. */
const amountOf = (id: string, { code, unit }: { code?: string | null; unit?: string }) => `${id}:${String(code)}:${unit ?? ''}`;
const byId = ({ id }: { id: string }) => users.find((each) => each.id === id);
const reference = { __resolveReference: (key: object) => key };

const SUBGRAPHS: Record<string, Source> = {
  accounts: {
    sdl: 'type Query { users: [User!]! me(id: ID!): User } type User @key(fields: "id") { id: ID! name: String currency: String settings: Settings } type Settings { locale: String }',
    resolvers: { Query: { users: () => users, me: (_: unknown, key: { id: string }) => byId(key) }, User: { __resolveReference: byId } },
  },
  pay: {
    sdl: `type User @key(fields: "id") @context(name: "user") { id: ID! currency: String @external settings: Settings @external transactions: [Transaction!]! }
      type Settings { locale: String @external }
      type Transaction @key(fields: "id") {
        id: ID! other: Transaction owner: User
        amount(code: String @fromContext(field: "$user { currency }"), unit: String = "cent"): String
        greeting(locale: String @fromContext(field: "$user { settings { locale } }")): String
      }`,
    resolvers: {
      User: { ...reference, transactions: ({ id }: { id: string }) => ownedBy[id]?.map((each) => ({ id: each })) },
      Transaction: {
        ...reference,
        amount: ({ id }: { id: string }, given: object) => amountOf(id, given),
        greeting: ({ id }: { id: string }, { locale }: { locale?: string }) => `${id}:${String(locale)}`,
        other: ({ id }: { id: string }) => ({ id: `o${id}` }),
        owner: ({ id }: { id: string }) => ({ id: id.includes('1') ? 'u2' : 'u4' }),
      },
    },
  },
  fees: {
    sdl: `type User @key(fields: "id") @context(name: "payer") { id: ID! currency: String @external }
      type Transaction @key(fields: "id") { id: ID! fee(code: String @fromContext(field: "$payer { currency }")): String note: String }`,
    resolvers: {
      Transaction: {
        ...reference,
        fee: ({ id }: { id: string }, { code }: { code?: string | null }) => {
          if (code === null) throw new Error('no currency');
          return `fee ${id}:${String(code)}`;
        },
        note: ({ id }: { id: string }) => `note ${id}`,
      },
    },
  },
};

/** The same graph as one schema: resolvers pass the nearest user on. */
const MERGED = buildSchema(
  `type Query { users: [User!]! me(id: ID!): User }
   type User { id: ID! name: String currency: String settings: Settings transactions: [Transaction!]! } type Settings { locale: String }
   type Transaction { id: ID! other: Transaction owner: User amount(unit: String = "cent"): String greeting: String fee: String note: String }`,
);
const toUser = (user: (typeof users)[number] | undefined): object | undefined =>
  user && { ...user, transactions: () => ownedBy[user.id]?.map((id) => toTransaction(id, user)) };
const toTransaction = (id: string, user: (typeof users)[number]): object => ({
  id,
  amount: ({ unit }: { unit: string }) => amountOf(id, { code: user.currency, unit }),
  greeting: () => `${id}:${String(user.settings?.locale ?? null)}`,
  fee: () => {
    if (user.currency === null) throw new Error('no currency');
    return `fee ${id}:${user.currency}`;
  },
  note: () => `note ${id}`,
  other: () => toTransaction(`o${id}`, user),
  owner: () => toUser(byId({ id: id.includes('1') ? 'u2' : 'u4' })),
});
const ROOT = { users: () => users.map(toUser), me: (key: { id: string }) => toUser(byId(key)) };

const ask = federate(SUBGRAPHS);

/** Contexts that objects of several types set, and objects of several levels. */
const LEVELS: Record<string, Source> = {
  people: {
    sdl: `type Query { holders: [Holder!]! region: String shops: [Shop!]! } union Holder = Person | Company
      type Person @key(fields: "id") { id: ID! tier: String } type Company @key(fields: "id") { id: ID! segment(of: Int): String }
      type Shop @key(fields: "id") { id: ID! currency: String }`,
    resolvers: {
      Query: {
        region: () => 'eu',
        shops: () => ['EUR', 'USD'].map((currency) => ({ id: currency, currency })),
        holders: () => [
          { __typename: 'Person', id: 'p1', tier: 'gold' },
          { __typename: 'Company', id: 'c1' },
          { __typename: 'Person', id: 'p2', tier: null },
        ],
      },
      Person: reference,
      Company: { ...reference, segment: ({ id }: { id: string }, { of }: { of?: number }) => `${id}/${String(of)}` },
    },
  },
  accounts: {
    sdl: `type Query @context(name: "query") { region: String @external }
      union Holder @context(name: "holder") = Person | Company
      type Person @key(fields: "id") { id: ID! tier: String @external ledgers: [Ledger!]! }
      type Company @key(fields: "id") { id: ID! segment(of: Int): String @external ledgers: [Ledger!]! }
      type Ledger @key(fields: "id") { id: ID! limit(kind: String @fromContext(field: "$holder ... on Person { tier } ... on Company { segment(of: 7) }")): String }
      type Shop @key(fields: "id") @context(name: "currency") { id: ID! currency: String @external accounts: [Account!]! assets: [Asset!]! }
      type Account @key(fields: "id") @context(name: "currency") { id: ID! currency: String inner: Account transfers: [Transfer!]!
        tax(region: String @fromContext(field: "$query { region }")): String
        rate(code: String @fromContext(field: "$currency { currency }")): String }
      type Transfer @key(fields: "id") { id: ID! rate(code: String @fromContext(field: "$currency { currency }")): String }
      type Asset @key(fields: "id") @interfaceObject { id: ID! accounts: [Account!]! }`,
    resolvers: {
      Person: { ...reference, ledgers: ({ id }: { id: string }) => [{ id: `a${id}` }] },
      Ledger: { ...reference, limit: ({ id }: { id: string }, { kind }: { kind?: string }) => `${id}:${String(kind)}` },
      Company: { ...reference, ledgers: ({ id }: { id: string }) => [{ id: `a${id}` }, { id: 'same' }] },
      Shop: {
        ...reference,
        accounts: ({ id }: { id: string }) => [{ id: `a${id}` }, { id: 'same' }],
        assets: ({ id }: { id: string }) => [{ id: `b${id}` }, { id: `d${id}` }],
      },
      Account: {
        ...reference,
        currency: ({ id }: { id: string }) => `own ${id}`,
        inner: ({ id }: { id: string }) => ({ id: `i${id}` }),
        transfers: ({ id }: { id: string }) => [{ id: `t${id}` }],
        tax: ({ id }: { id: string }, { region }: { region?: string }) => `${id}:${String(region)}`,
        rate: ({ id }: { id: string }, { code }: { code?: string }) => `${id}:${String(code)}`,
      },
      Transfer: { ...reference, rate: ({ id }: { id: string }, { code }: { code?: string }) => `${id}:${String(code)}` },
      Asset: { ...reference, accounts: ({ id }: { id: string }) => [{ id: `a${id}` }] },
    },
  },
  assets: {
    sdl: `interface Asset @key(fields: "id") { id: ID! title: String } type Book implements Asset @key(fields: "id") { id: ID! title: String }
      type Disc implements Asset @key(fields: "id") { id: ID! title: String }`,
    resolvers: {
      Asset: {
        __resolveReference: ({ id }: { id: string }) => ({ __typename: id.startsWith('b') ? 'Book' : 'Disc', id }),
        __resolveType: ({ id }: { id: string }) => (id.startsWith('b') ? 'Book' : 'Disc'),
        title: ({ id }: { id: string }) => `title ${id}`,
      },
      Book: { __resolveReference: (key: object) => key, title: ({ id }: { id: string }) => `title ${id}` },
      Disc: { __resolveReference: (key: object) => key, title: ({ id }: { id: string }) => `title ${id}` },
    },
  },
};
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
