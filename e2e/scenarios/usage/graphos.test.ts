/** Reports of usage to Apollo GraphOS, compared with those of Apollo Server and @apollo/gateway for the same requests. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { type ApolloPeer, decodeReport, readRequests, startApolloPeer } from '../../stack/collectors/graphos-report.ts';
import { type ReportReceiver, startReportReceiver } from '../../stack/collectors/report-receiver.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';

const SHOP = `
  type Query { user(id: ID!, with: With, data: JSON): User users(ids: [ID!], by: [By!], sort: Sort = NEW, limit: Int, ratio: Float): [User!]
    node(id: ID): Node any: Any fail: Int }
  type Mutation { rename(input: Rename!): User }
  type Subscription { ticks: Int }
  interface Node { id: ID! }
  type User implements Node @key(fields: "id") { id: ID! name(form: Form): String role: Role friends(first: Int): [User!] }
  type Robot implements Node { id: ID! model: String }
  union Any = User | Robot
  enum Role { ADMIN CUSTOMER } enum Sort { NEW OLD } enum Form { LONG SHORT } scalar JSON
  input By { email: String sort: Sort range: Range } input Range { from: Int! to: Int } input With { role: Role and: [With!] }
  input Rename { id: ID! name: String form: Form! }`;
const REVIEWS = 'type User @key(fields: "id") { id: ID! reviews(first: Int): [Review!] } type Review { stars: Int text: String }';
const ADA = { __typename: 'User', id: 'u1', name: 'Ada', role: 'ADMIN', friends: [] };
const failing = () => {
  throw new Error('never');
};
const SOURCES = {
  shop: {
    sdl: SHOP,
    resolvers: {
      Query: { user: () => ADA, users: () => [ADA], node: () => ADA, any: () => ADA, fail: failing },
      Mutation: { rename: () => ADA },
      // eslint-disable-next-line @typescript-eslint/require-await -- a generator that waits for nothing
      Subscription: { ticks: { subscribe: async function* ticks() { yield { ticks: 1 }; } } }, // prettier-ignore
    },
  },
  reviews: { sdl: REVIEWS, resolvers: { User: { __resolveReference: ({ id }: object & { id?: string }) => ({ id, reviews: [{ stars: 5, text: failing }] }) } } },
}; // prettier-ignore
const PATH = '/api/ingress/traces';

let receiver: ReportReceiver;
let federation: Federation;
let peer: ApolloPeer;
const toEnv = ({ url }: ReportReceiver) => ({
  ...{ APOLLO_KEY: 'service:shop:secret', APOLLO_GRAPH_REF: 'shop@current', APOLLO_USAGE_REPORTS: 'on' },
  ...{ APOLLO_USAGE_REPORTING_INGRESS_URL: `${url}${PATH}`, USAGE_INTERVAL_MS: '100' },
});
beforeAll(async () => {
  receiver = await startReportReceiver();
  federation = await startFederation(SOURCES, { env: toEnv(receiver) });
  peer = await startApolloPeer(federation.supergraphSdl, receiver.url);
});
afterAll(async () => {
  await Promise.all([federation.stop(), peer.stop()]);
  await receiver.stop();
});
beforeEach(async () => {
  await until(async () => (await readMetric(federation.gateway.url, 'trestle_usage_pending_bytes')) === 0);
  receiver.received.length = 0;
});

const isOurs = (agent: string) => agent.startsWith('@trestle/gateway@');
const received = (isOwn: boolean) => receiver.received.filter((each) => isOurs(decodeReport(each).header?.agentVersion ?? '') === isOwn);
const countOf = (isOwn: boolean) => readRequests(received(isOwn)).reduce((total, { requests }) => total + requests, 0);

/** Sends a request to both gateways. */
const sendBoth = async (body: object, headers: Record<string, string> = {}) =>
  Promise.all([federation.url, peer.url].map((url) => request(url, { method: 'POST', body, headers })));
/** Waits until both have reported so many requests, and returns what they say. */
const compare = async (requests: number) => {
  await until(() => Promise.resolve(countOf(true) === requests && countOf(false) === requests));
  return { ours: readRequests(received(true)), theirs: readRequests(received(false)) };
};

describe('usage.graphos', () => {
  it.each<[string, string, Record<string, unknown>?]>([
    ['fields, arguments and literals', '{ user(id: "secret") { id name(form: LONG) role } }'],
    ['numbers', '{ users(limit: 4711, ratio: 47.11) { id friends(first: 11) { id } } }'],
    ['a name and aliases', 'query Two { a: user(id: "u1") { id } b: user(id: "u2") { x: id } }'],
    ['input objects and lists', '{ users(ids: ["secret"], by: [{ email: "secret", sort: OLD, range: { from: 1 } }, { sort: null }], sort: NEW) { id } }'],
    ['variables', 'query V($by: [By!]!, $id: ID!) { users(by: $by) { id } user(id: $id) { id } }', { by: [{ email: 'secret' }], id: 'secret' }],
    ['defaults of variables', 'query D($ids: [ID!]! = ["secret"], $role: Role! = ADMIN, $n: Int = 4711) { users(ids: $ids, limit: $n) { id } user(id: 1, with: { role: $role }) { id } }'],
    ['interfaces, unions and fragments', '{ node(id: null) { id ... on User { name } } any { ...Any __typename } } fragment Any on Any { ... on Robot { model } ... on Node { id } }'],
    ['operations and fragments in another order', 'fragment B on User { name ...A } fragment A on User { id } query Z { user(id: 1) { role ...B } }'],
    ['directives', 'query ($b: Boolean!) { user(id: "u1") { id @skip(if: $b) name @include(if: true) } }', { b: false }],
    ['fields of two subgraphs', 'query Reviews { user(id: "u1") { name reviews(first: 2) { stars } } }'],
    ['custom scalars', '{ user(id: "u1", data: { a: ["secret"], b: 4711 }) { id } }'],
    ['a mutation', 'mutation Rename($input: Rename!) { rename(input: $input) { id } }', { input: { id: 'u1', form: 'LONG', name: 'secret' } }],
    ['introspection', '{ __typename __schema { queryType { name } } __type(name: "User") { kind fields { name } } }'],
    ['an error of a subgraph', 'query Bad { fail }'],
    ['variables that are not valid', 'query Invalid($id: ID!) { user(id: $id) { id } }', {}],
  ])('reports %s as Apollo Server', async (_, query, variables = {}) => {
    const replies = await sendBoth({ query, variables });
    const errors = replies.map(({ body }) => ((body as { errors?: object[] }).errors ?? []).length);
    expect(errors[0]).toBe(errors[1]);
    const { ours, theirs } = await compare(1);
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject([{ requests: 1, withoutFields: 1, timed: 1, withErrors: errors[0] === 0 ? 0 : 1 }]);
    const report = received(true).map((each) => JSON.stringify(decodeReport(each))).join();
    expect(report).not.toMatch(/secret|4711|47\.11/u);
  }); // prettier-ignore

  it('reports errors of entities at their path in the result', async () => {
    await sendBoth({ query: 'query Worse { someone: user(id: "u1") { id reviews { stars text } } }' });
    const { ours, theirs } = await compare(1);
    expect(ours).toMatchObject([{ withErrors: theirs[0]?.withErrors, fields: theirs[0]?.fields }]);
    const place = { errorsCount: '1', requestsWithErrorsCount: '1' };
    const path = { someone: { children: { reviews: { children: { text: place } } } } };
    expect(ours[0]?.errors).toMatchObject({ children: { 'service:reviews': { children: path } } });
  });

  it('chooses the operation of a document by its name, and leaves out what it does not use', async () => {
    const query = 'query One { user(id: 1) { ...A } } query Two { users { ...B } } fragment A on User { id } fragment B on User { name }';
    await sendBoth({ query, operationName: 'Two' });
    const { ours, theirs } = await compare(1);
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject([{ key: '# Two\nfragment B on User{name}query Two{users{...B}}', fields: { User: { names: ['name'] } } }]);
  });

  it('counts requests by operation and version of a client, and automatic persisted queries', async () => {
    const query = 'query Counted { user(id: "u1") { id } }';
    const ios = { 'apollographql-client-name': 'ios', 'apollographql-client-version': '7' };
    const persistedQuery = { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
    await sendBoth({ extensions: { persistedQuery } }, ios);
    await sendBoth({ query, extensions: { persistedQuery } }, ios);
    for (let i = 0; i < 2; i++) await sendBoth({ extensions: { persistedQuery } }, ios);
    await sendBoth({ query }, { 'apollographql-client-name': 'web' });
    await sendBoth({ query });
    await until(() => Promise.resolve(countOf(true) === 5 && countOf(false) === 5));
    const total = (isOwn: boolean) => {
      const clients = new Map<string, object>();
      for (const { client, version, requests, persisted } of readRequests(received(isOwn))) {
        const key = `${client} ${version}`;
        const before = (clients.get(key) ?? { requests: 0, hits: 0, misses: 0 }) as Record<'requests' | 'hits' | 'misses', number>;
        const { hits, misses } = persisted;
        clients.set(key, { requests: before.requests + requests, hits: before.hits + hits, misses: before.misses + misses });
      }
      return Object.fromEntries(clients);
    };
    expect(total(true)).toEqual(total(false));
    expect(total(true)).toEqual({
      'ios 7': { requests: 3, hits: 2, misses: 1 },
      'web ': { requests: 1, hits: 0, misses: 0 },
      ' ': { requests: 1, hits: 0, misses: 0 },
    });
  });

  it('says which graph and schema a report is about, and sends it with the key', async () => {
    const before = Math.floor(Date.now() / 1000);
    await sendBoth({ query: '{ user(id: 1) { id } }' });
    await compare(1);
    const [ours, theirs] = [received(true)[0], received(false)[0]];
    if (!ours || !theirs) throw new Error('A report is missing');
    expect(ours.path).toBe(theirs.path);
    expect(ours.headers).toMatchObject({ 'x-api-key': 'service:shop:secret', 'content-encoding': 'gzip', accept: 'application/json' });
    const { header, endTime, operationCount } = decodeReport(ours);
    const { graphRef, executableSchemaId, hostname } = decodeReport(theirs).header ?? {};
    expect(header).toMatchObject({ graphRef, executableSchemaId, hostname, runtimeVersion: expect.stringMatching(/^node v\d/u) });
    expect(graphRef).toBe('shop@current');
    expect(operationCount).toBe(1);
    expect(endTime?.seconds).toBeGreaterThanOrEqual(before);
  });

  it('reports about a supergraph from Uplink, by the hash of its text', async () => {
    const routerConfig = { __typename: 'RouterConfigResult', id: '1', minDelaySeconds: 60, supergraphSdl: federation.supergraphSdl };
    const uplink = createServer((incoming, response) => {
      incoming.resume();
      response.end(JSON.stringify({ data: { routerConfig } }));
    }).listen(0, '127.0.0.1');
    await once(uplink, 'listening');
    const endpoint = `http://127.0.0.1:${String((uplink.address() as AddressInfo).port)}/`;
    const gateway = await startGateway(['--port', '0', '--auth', 'off'], { ...toEnv(receiver), APOLLO_UPLINK_ENDPOINTS: endpoint });
    await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: 'query Uplinked { user(id: 1) { id } }' } });
    await gateway.end('SIGTERM');
    const [report] = received(true).map(decodeReport);
    const executableSchemaId = createHash('sha256').update(federation.supergraphSdl).digest('hex');
    expect(report?.header).toMatchObject({ graphRef: 'shop@current', executableSchemaId });
    uplink.close();
  });

  it('reports a subscription when it begins', async () => {
    const socket = await openSocket(federation.url, { headers: { 'apollographql-client-name': 'live' } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription Ticks { ticks }' } });
    await socket.next(({ type }) => type === 'complete');
    await socket.close();
    await until(() => Promise.resolve(countOf(true) === 1));
    const fields = { Subscription: { names: ['ticks'], isInterface: false } };
    expect(readRequests(received(true))).toMatchObject([
      { key: '# Ticks\nsubscription Ticks{ticks}', client: 'live', requests: 1, fields },
    ]);
  });

  it('reports no document that is not valid', async () => {
    await federation.ask('{ secret }');
    await federation.ask('{ user(id: "secret" }');
    await federation.ask('query Valid { user(id: 1) { id } }');
    await until(() => Promise.resolve(countOf(true) > 0));
    expect(readRequests(received(true))).toMatchObject([{ key: '# Valid\nquery Valid{user(id:0){id}}', requests: 1 }]);
  });

  it('counts each request once with several workers, and sends what is left when it stops', async () => {
    const env = { ...toEnv(receiver), WORKERS: '2', USAGE_INTERVAL_MS: '60000' };
    const other = await startFederation(SOURCES, { env });
    const ask = () => other.ask('query Work { user(id: "u1") { id } }', {}, { connection: 'close' });
    await Promise.all(Array.from({ length: 20 }, ask));
    expect(received(true)).toEqual([]);
    await other.stop();
    expect(countOf(true)).toBe(20);
    expect(readRequests(received(true)).every(({ key }) => key.startsWith('# Work'))).toBe(true);
  });

  it('counts results of the response cache separately', async () => {
    const sdl = 'type Query { news: String @cacheControl(maxAge: 60) }';
    const directive =
      'directive @cacheControl(maxAge: Int) on FIELD_DEFINITION extend schema @link(url: "https://example.com/cc/v1.0", import: ["@cacheControl"]) @composeDirective(name: "@cacheControl") ';
    const env = { ...toEnv(receiver), RESPONSE_CACHE: 'memory' };
    const other = await startFederation({ news: { sdl: directive + sdl, resolvers: { Query: { news: () => 'old' } } } }, { env });
    for (let i = 0; i < 3; i++) await other.ask('query News { news }');
    await other.stop();
    const rows = readRequests(received(true));
    const sum = (name: 'requests' | 'cacheHits' | 'timed' | 'timedCached') => rows.reduce((total, row) => total + row[name], 0);
    expect([sum('requests'), sum('cacheHits'), sum('timed'), sum('timedCached')]).toEqual([3, 2, 1, 2]);
  });

  it.each([503, 401])('sends what was responded to with %d again, and each request once', async (status) => {
    receiver.status = status;
    await Promise.all(Array.from({ length: 20 }, () => federation.ask('query Many { user(id: "u1") { id } }')));
    await until(() => Promise.resolve(received(true).length > 1));
    receiver.received.length = 0;
    receiver.status = 200;
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_usage_pending_bytes')) === 0);
    expect(countOf(true)).toBe(20);
    expect(federation.gateway.lines.join('\n')).not.toContain('secret');
  });
});
