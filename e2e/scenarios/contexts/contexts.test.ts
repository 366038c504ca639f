/** `@context` and `@fromContext`: a real gateway gives fields the values of the objects around them, which clients do not send. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const users = [
  { id: 'u1', currency: 'EUR', isKnown: true },
  { id: 'u2', currency: 'USD', isKnown: false },
  { id: 'u3', currency: 'EUR', isKnown: true },
];
const byId = ({ id }: { id: string }) => users.find((each) => each.id === id);
const reference = { __resolveReference: (key: object) => key };
const payments = ({ id }: { id: string }) => (id === 'u2' ? ['p2', 'p1'] : ['p1']).map((each) => ({ id: each }));
const inCurrency =
  (name: string) =>
  (payment: { id: string }, { code }: { code?: string }) =>
    `${name} ${payment.id} ${String(code)}`;

const subgraphs = {
  accounts: {
    sdl: `type Query { users: [User!]! } type Mutation { touch(id: ID!): User } type Subscription { changed: User }
      type User @key(fields: "id") { id: ID! currency: String isKnown: Boolean }`,
    resolvers: {
      Query: { users: () => users },
      Mutation: { touch: (_: unknown, key: { id: string }) => byId(key) },
      Subscription: {
        changed: {
          subscribe: async function* () {
            for (const changed of users) yield await Promise.resolve({ changed });
          },
        },
      },
      User: { __resolveReference: byId },
    },
  },
  payments: {
    sdl: `type User @key(fields: "id") @context(name: "user") { id: ID! currency: String @external payments: [Payment!]! }
      type Payment @key(fields: "id") { id: ID! amount(code: String @fromContext(field: "$user { currency }"), digits: Int = 2): String }`,
    resolvers: {
      User: { ...reference, payments },
      Payment: {
        ...reference,
        amount: (payment: { id: string }, given: { code?: string; digits: number }) =>
          `${inCurrency('amount')(payment, given)} ${String(given.digits)}`,
      },
    },
  },
  risks: {
    sdl: `type User @key(fields: "id") @context(name: "payer") { id: ID! currency: String @external isKnown: Boolean @external }
      type Payment @key(fields: "id") {
        fee(code: String @fromContext(field: "$payer { currency }")): String
        risk(known: Boolean @fromContext(field: "$payer { isKnown }")): Int! id: ID!
      }`,
    resolvers: { Payment: { ...reference, fee: inCurrency('fee'), risk: (_: object, { known }: { known: boolean }) => (known ? 1 : 9) } },
  },
};

let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(subgraphs);
});
afterAll(() => federation.stop());

const FIELDS = 'payments { id amount(digits: 3) fee risk }';
const expectedOf = ({ id, currency, isKnown }: (typeof users)[number]) => ({
  payments: payments({ id }).map((each) => ({
    id: each.id,
    amount: `amount ${each.id} ${currency} 3`,
    fee: `fee ${each.id} ${currency}`,
    risk: isKnown ? 1 : 9,
  })),
});

it('answers a query, a mutation and a subscription, and sends equal values once', async () => {
  federation.received.length = 0;
  expect((await federation.ask(`{ users { ${FIELDS} } }`)).body).toEqual({ data: { users: users.map(expectedOf) } });
  expect(federation.received.filter(({ subgraph }) => subgraph === 'risks').map(({ variables }) => variables)).toEqual([
    {
      contextualArgument_3_0_0: 'EUR',
      contextualArgument_3_1_0: true,
      representations_0: [{ __typename: 'Payment', id: 'p1' }],
      contextualArgument_3_0_1: 'USD',
      contextualArgument_3_1_1: false,
      representations_1: ['p2', 'p1'].map((id) => ({ __typename: 'Payment', id })),
    },
  ]);
  const touched = await federation.ask(`mutation ($id: ID!) { touch(id: $id) { ${FIELDS} } }`, { id: 'u2' });
  expect(touched.body).toEqual({ data: { touch: users.filter(({ id }) => id === 'u2').map(expectedOf)[0] } });
  const response = await fetch(federation.url, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: `subscription { changed { ${FIELDS} } }` }),
  });
  const events = [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(([, text = '']) => JSON.parse(text) as object);
  expect(events).toEqual(users.map((user) => ({ data: { changed: expectedOf(user) } })));
});

it('hides contextual arguments from clients, and refuses their values', async () => {
  const { body } = await federation.ask('{ __type(name: "Payment") { fields { name args { name } } } }');
  expect(JSON.stringify(body)).toContain('{"name":"amount","args":[{"name":"digits"}]}');
  expect(JSON.stringify(body)).not.toMatch(/code|known|standIn/);
  const refused = await federation.ask('{ users { payments { amount(code: "XXX") } } }');
  expect([refused.status, refused.body.errors?.[0]?.message]).toEqual([400, 'Unknown argument "code" on field "Payment.amount".']);
});

it('fetches nothing with a value that is missing, and reports the failure of its subgraph at each field', async () => {
  federation.received.length = 0;
  try {
    federation.intercept = ({ subgraph }) =>
      subgraph === 'accounts'
        ? { data: { users: [{ __typename: 'User', id: 'u1' }] }, errors: [{ message: 'down', path: ['users', 0, 'currency'] }] }
        : undefined;
    const missing = await federation.ask('{ users { payments { fee } } }');
    expect(missing.body.data).toEqual({ users: [{ payments: [{ fee: null }] }] });
    expect(missing.body.errors?.map(({ message }) => message)).toEqual(['down']);
    expect(federation.received.filter(({ subgraph }) => subgraph === 'risks')).toEqual([]);
  } finally {
    federation.intercept = undefined;
  }
});

it('refuses a supergraph that links another version of the specification', async () => {
  const patch = (sdl: string) => sdl.replace('context/v0.1', 'context/v0.2');
  await expect(startFederation(subgraphs, { patch })).rejects.toThrow(/unsupported context spec version v0\.2/);
});
