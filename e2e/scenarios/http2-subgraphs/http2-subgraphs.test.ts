/** A subgraph that speaks HTTP/2 alone, without TLS as in a service mesh, beside one by HTTP/1.1. */
import { once } from 'node:events';
import { type Http2Server, type ServerHttp2Session, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { execute, parse } from 'graphql';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Federation, LINK, startFederation } from '../../stack/federation/federation.ts';

const PEOPLE =
  'type Query { people: [Person!]! } type Mutation { rename(name: String!): Person! } type Person @key(fields: "id") { id: ID! name: String! }';
const SOURCES = {
  people: { sdl: PEOPLE, resolvers: {} },
  ages: {
    sdl: 'type Person @key(fields: "id") { id: ID! age: Int! }',
    resolvers: { Person: { __resolveReference: ({ id }: { id: string }) => ({ id, age: Number(id) + 20 }) } },
  },
};
const OPERATIONS = 200;
const QUERY = '{ people { name age } }';
const DATA = { people: [1, 2, 3].map((id) => ({ name: `n${String(id)}`, age: id + 20 })) };

describe('a subgraph with `traffic.client: http2`', () => {
  const sessions = new Set<ServerHttp2Session>();
  const renamed: string[] = [];
  let federation: Federation;
  let server: Http2Server;
  beforeAll(async () => {
    const people = [1, 2, 3].map((id) => ({ id: String(id), name: `n${String(id)}` }));
    const rename = (_: unknown, { name }: { name: string }) => {
      renamed.push(name);
      return { id: '1', name };
    };
    const schema = buildSubgraphSchema({
      typeDefs: parse(LINK + PEOPLE),
      resolvers: { Query: { people: () => people }, Mutation: { rename } },
    });
    server = createServer();
    server.on('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      void text(stream).then(async (body) => {
        const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
        const result = await execute({ schema, document: parse(query), variableValues: variables ?? {} });
        if (stream.destroyed) return;
        stream.respond({ ':status': 200, 'content-type': 'application/json' });
        stream.end(JSON.stringify(result));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
    const env = { SUBGRAPH_URL_PEOPLE: url, UPSTREAM_CLIENT_PEOPLE: 'http2', SUBGRAPH_RETRY_PERCENT: '0' };
    federation = await startFederation(SOURCES, { env });
  });
  afterAll(async () => {
    await federation.stop();
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const askAll = (query: string) =>
    Promise.all(Array.from({ length: OPERATIONS }, (_, i) => federation.ask(query.replace('#', `n${String(i)}`))));

  it('gets many operations at a time over one connection', async () => {
    for (const { body } of await askAll(QUERY)) expect(body).toEqual({ data: DATA });
    expect(await readMetric(federation.gateway.url, 'trestle_subgraph_connections_created_total{subgraph="people"}')).toBe(1);
    expect(sessions.size).toBe(1);
  });

  it('may close its connection at any time (GOAWAY): each operation has its result, and each mutation is executed once', async () => {
    const asked = askAll('mutation { rename(name: "#") { name age } }');
    for (let closed = 0; closed < 3; closed++) {
      await until(() => Promise.resolve(renamed.length >= (closed * OPERATIONS) / 4 && sessions.size > 0));
      for (const session of sessions) session.close();
    }
    for (const [i, { body }] of (await asked).entries()) expect(body).toEqual({ data: { rename: { name: `n${String(i)}`, age: 21 } } });
    expect(new Set(renamed).size).toBe(OPERATIONS);
    expect(renamed).toHaveLength(OPERATIONS);
  });
});
