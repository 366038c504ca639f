/** Reports of usage to GraphQL Hive, compared with those of Hive's own client for the same operations. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, type IntrospectionQuery, buildClientSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHive } from '../../stack/collectors/hive-client.ts';
import { type ReportReceiver, startReportReceiver } from '../../stack/collectors/report-receiver.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';

const SDL = `
  type Query { user(id: ID!, with: With): User users(ids: [ID!], by: [By!], sort: Sort = NEW, at: Time): [User!] node(id: ID): Node any: Any fail: Int }
  type Mutation { rename(input: Rename!): User }
  type Subscription { ticks: Int }
  interface Node { id: ID! }
  type User implements Node @key(fields: "id") { id: ID! name(form: Form): String role: Role friends(first: Int): [User!] }
  type Robot implements Node { id: ID! model: String }
  union Any = User | Robot
  enum Role { ADMIN CUSTOMER } enum Sort { NEW OLD } enum Form { LONG SHORT } scalar Time
  input By { email: String sort: Sort range: Range } input Range { from: Int! to: Int } input With { role: Role and: [With!] }
  input Rename { id: ID! name: String form: Form! }`;
const ADA = { __typename: 'User', id: 'u1', name: 'Ada', role: 'ADMIN', friends: [] };
const failing = () => {
  throw new Error('never');
};
const RESOLVERS = {
  Query: { user: () => ADA, users: () => [ADA], node: () => ADA, any: () => ADA, fail: failing },
  Mutation: { rename: () => ADA },
  // eslint-disable-next-line @typescript-eslint/require-await -- a generator that waits for nothing
  Subscription: { ticks: { subscribe: async function* ticks() { yield { ticks: 1 }; } } }, // prettier-ignore
};

interface Report {
  readonly size: number;
  readonly map: Readonly<
    Record<string, { readonly operation: string; readonly operationName: string; readonly fields: readonly string[] }>
  >;
  readonly operations?: readonly {
    readonly operationMapKey: string;
    readonly timestamp: number;
    readonly execution: { readonly ok: boolean; readonly duration: number; readonly errorsTotal: number };
    readonly metadata?: { readonly client?: { readonly name?: string; readonly version?: string } };
  }[];
  readonly subscriptionOperations?: readonly { readonly operationMapKey: string; readonly timestamp: number; readonly metadata?: object }[];
}

let receiver: ReportReceiver;
let peer: ReportReceiver;
let federation: Federation;
let schema: GraphQLSchema;
beforeAll(async () => {
  [receiver, peer] = await Promise.all([startReportReceiver(), startReportReceiver()]);
  const env = { HIVE_ACCESS_TOKEN: 'hvo1/secret', HIVE_TARGET: 'shop/api/production', HIVE_USAGE_ENDPOINT: receiver.url };
  federation = await startFederation({ only: { sdl: SDL, resolvers: RESOLVERS } }, { env: { ...env, USAGE_INTERVAL_MS: '100' } });
  const { body } = await federation.ask(getIntrospectionQuery());
  schema = buildClientSchema(body.data as unknown as IntrospectionQuery);
});
afterAll(async () => {
  await federation.stop();
  await Promise.all([receiver.stop(), peer.stop()]);
});
beforeEach(async () => {
  await until(async () => (await readMetric(federation.gateway.url, 'trestle_usage_pending_bytes')) === 0);
  receiver.received.length = 0;
  peer.received.length = 0;
});

const readReports = ({ received }: ReportReceiver) => received.map(({ body }) => JSON.parse(body) as Report);
/** Waits for the only report. */
async function receive(from: ReportReceiver): Promise<Report> {
  await until(() => Promise.resolve(from.received.length > 0));
  return readReports(from)[0] as Report;
}

/** Returns what Hive's client reports of a request. */
async function reportByPeer(query: string, variableValues: Record<string, unknown>): Promise<Report> {
  const hive = await createHive({
    ...{ enabled: true, token: 'hvo1/secret', agent: { maxSize: 1, sendInterval: 10 } },
    usage: { target: 'shop/api/production', endpoint: peer.url },
  });
  hive.collectRequest({ args: { schema, document: parse(query), variableValues, contextValue: {} }, duration: 1e6, result: { data: {} } });
  const report = await receive(peer);
  await hive.dispose();
  return report;
}

const describeMap = ({ map }: Report) =>
  Object.values(map).map(({ operationName, fields }) => ({ operationName, fields: [...fields].sort() }));

describe('usage.hive', () => {
  it.each<[string, string, Record<string, unknown>?]>([
    ['fields, arguments and literals', '{ user(id: "u1") { id name(form: LONG) role } }'],
    ['a name and aliases', 'query Two { a: user(id: "u1") { id } b: user(id: "u2") { x: id } }'],
    ['input objects', '{ users(by: [{ email: "a@b.example", sort: OLD, range: { from: 1 } }, { sort: null }], sort: NEW) { id } }'],
    ['lists of literals', '{ users(ids: ["u1", "u2"], at: "2026-01-01") { id } }'],
    ['what variables give', 'query ($by: [By!]!, $id: ID!) { users(by: $by) { id } user(id: $id) { id } }', { by: [], id: 'u1' }],
    ['input types that contain themselves', 'query ($with: With!) { user(id: "u1", with: $with) { id } }', { with: {} }],
    ['defaults of variables', 'query ($ids: [ID!]! = ["u1"], $role: Role! = ADMIN) { users(ids: $ids) { id } user(id: 1, with: { role: $role }) { id } }', { ids: ['u1'], role: 'ADMIN' }],
    ['interfaces, unions and fragments', '{ node(id: null) { id ... on User { name } } any { ...Any __typename } } fragment Any on Any { ... on Robot { model } }'],
    ['directives', 'query ($b: Boolean!) { user(id: "u1") { id @skip(if: $b) name @include(if: true) } }', { b: false }],
    ['a mutation', 'mutation Rename($input: Rename!) { rename(input: $input) { id } }', { input: { id: 'u1', form: 'LONG' } }],
    ['introspection', '{ __typename __schema { queryType { name } } __type(name: "User") { kind } }'],
  ])('reports %s as Hive’s own client', async (_, query, variables = {}) => {
    expect((await federation.ask(query, variables)).body.errors).toBeUndefined();
    const [ours, theirs] = [await receive(receiver), await reportByPeer(query, variables)];
    expect(describeMap(ours)).toEqual(describeMap(theirs));
    expect(validate(schema, parse(Object.values(ours.map)[0]?.operation ?? ''))).toEqual([]);
    expect(ours).toMatchObject({ size: 1, operations: [{ execution: { ok: true, errorsTotal: 0, duration: expect.any(Number) } }] });
  }); // prettier-ignore

  it('does not say that an argument always has a value when a nullable variable gives it', async () => {
    await federation.ask('query ($first: Int) { user(id: "u1") { friends(first: $first) { id } } }');
    const [{ fields } = { fields: [] }] = describeMap(await receive(receiver));
    expect(fields).toContain('User.friends.first');
    expect(fields).not.toContain('User.friends.first!');
  });

  it('sends each request with its client, its time and whether it had errors, with the token to the target', async () => {
    const before = Date.now();
    const client = { 'graphql-client-name': 'web', 'graphql-client-version': '1.4' };
    await Promise.all([federation.ask('query Ok { user(id: "u1") { id } }', {}, client), federation.ask('query Bad { fail }')]);
    await until(() => Promise.resolve(readReports(receiver).reduce((sum, { size }) => sum + size, 0) === 2));
    const { path, headers } = receiver.received[0] ?? {};
    expect(path).toBe('/shop/api/production');
    expect(headers).toMatchObject({ authorization: 'Bearer hvo1/secret', 'x-usage-api-version': '2' });
    const requests = readReports(receiver).flatMap(({ operations = [], map }) =>
      operations.map(({ operationMapKey, ...each }) => ({ ...each, name: map[operationMapKey]?.operationName })),
    );
    expect(requests.find(({ name }) => name === 'Ok')).toMatchObject({
      metadata: { client: { name: 'web', version: '1.4' } },
      execution: { ok: true },
    });
    const bad = requests.find(({ name }) => name === 'Bad');
    expect(bad).toMatchObject({ execution: { ok: false, errorsTotal: 1 } });
    expect(bad).not.toHaveProperty('metadata');
    expect(bad?.timestamp).toBeGreaterThanOrEqual(before);
    expect(Number.isSafeInteger(bad?.execution.duration)).toBe(true);
  });

  it('reports a subscription when it begins', async () => {
    const socket = await openSocket(federation.url, { headers: { 'x-graphql-client-name': 'live' } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription Ticks { ticks }' } });
    await socket.next(({ type }) => type === 'complete');
    await socket.close();
    const report = await receive(receiver);
    expect(report).toMatchObject({ size: 1, subscriptionOperations: [{ metadata: { client: { name: 'live' } } }] });
    expect(report).not.toHaveProperty('operations');
    expect(describeMap(report)).toEqual([{ operationName: 'Ticks', fields: ['Subscription.ticks'] }]);
  });

  it('sends what Hive did not take again, and each request once', async () => {
    receiver.status = 503;
    await Promise.all(Array.from({ length: 20 }, () => federation.ask('query Many { user(id: "u1") { id } }')));
    await until(() => Promise.resolve(receiver.received.length > 1));
    receiver.status = 200;
    const read = () => readMetric(federation.gateway.url, 'trestle_usage_pending_bytes');
    await until(async () => (await read()) === 0);
    const sizes = new Map(readReports(receiver).map(({ size }, i) => [receiver.received[i]?.headers['x-request-id'], size]));
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBe(20);
  });
});
