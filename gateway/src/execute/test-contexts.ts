/** Graphs with contextual arguments, planned and executed on real subgraph schemas without a network. For tests. */
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, buildSchema, execute as executeQuery, parse } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from '../plan/planner.ts';
import { link } from '../program/operation.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type Executed, type ExecutionRequest, execute } from './execute.ts';
import { addAliases, readVariables } from './variables.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@context", "@fromContext", "@interfaceObject", "@shareable"])';

export interface Source {
  readonly sdl: string;
  readonly resolvers: object;
}
export type Json = Record<string, unknown>;

/** Returns a function that executes a query as a whole on subgraphs, which are executed by graphql-js. */
export function federate(sources: Record<string, Source>) {
  const typeDefs = Object.entries(sources).map(([name, { sdl }]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl = '', errors: faults } = composeServices(typeDefs);
  if (faults) throw new Error(faults.map(({ message }) => message).join('\n'));
  const planner = createPlanner(supergraphSdl, { ...DEFAULT_LIMITS, maxDeferred: 20 });
  const schemas = new Map<string, GraphQLSchema>(
    typeDefs.map(({ name, typeDefs: own }) => {
      const resolvers = sources[name]?.resolvers as NonNullable<Parameters<typeof buildSubgraphSchema>[0]>;
      return [name, buildSubgraphSchema({ typeDefs: own, resolvers } as unknown as Parameters<typeof buildSubgraphSchema>[0])];
    }),
  );
  return async (query: string, variables: Json = {}) => {
    const prepared = planner.prepare({ query, operationName: undefined, labels: [], isIncremental: query.includes('@defer') });
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
    return { data: result.data, errors, sent, isDivided: prepared.program.deferred !== undefined };
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
export const reference = { __resolveReference: (key: object) => key };

export const SUBGRAPHS: Record<string, Source> = {
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
export const MERGED = buildSchema(
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
export const ROOT = { users: () => users.map(toUser), me: (key: { id: string }) => toUser(byId(key)) };

/** Contexts that objects of several types set, and objects of several levels. */
export const LEVELS: Record<string, Source> = {
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
