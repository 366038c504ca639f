/** Subgraphs whose subscriptions come by server-sent events, from servers that teams use: graphql-sse and GraphQL Yoga. */
import { createRequire } from 'node:module';
import { type IncomingMessage, type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, parse } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/http';
import { until } from '../../stack/clients/client.ts';
import { type Federation, LINK, startFederation } from '../../stack/federation/federation.ts';
import { LIT_QUERY, LitEvents, createLitSources } from '../../stack/federation/lit-events.ts';
import { type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';

const source = new LitEvents();
const send = (...events: unknown[]) => {
  source.send(...events);
};

const SOURCES = createLitSources(source);
const { sdl, resolvers } = SOURCES.lamps;

// Its types would add those of browsers to the whole project.
const { createYoga } = createRequire(import.meta.url)('graphql-yoga') as { createYoga: (options: object) => RequestListener };
const SERVERS: Record<string, (schema: GraphQLSchema) => RequestListener> = {
  'graphql-sse': (schema) => createHandler({ schema }),
  'GraphQL Yoga': (schema) => createYoga({ schema, logging: false, graphiql: false }),
};

describe.each(Object.entries(SERVERS))('a subgraph that is served by %s', (_, createListener) => {
  let server: Server;
  let federation: Federation;
  let requests: IncomingMessage[];
  const subscribers: Subscriber[] = [];
  const subscribe = (options: Partial<Parameters<typeof subscribeTo>[1]> = {}) => {
    const subscriber = subscribeTo(federation.gateway.url, { query: LIT_QUERY, ...options });
    subscribers.push(subscriber);
    return subscriber;
  };
  const openTo = (count: number) => until(() => Promise.resolve(source.open === count));

  beforeAll(async () => {
    const schema = buildSubgraphSchema({ typeDefs: parse(LINK + sdl), resolvers });
    const listener = createListener(schema);
    server = createServer((request, response) => {
      requests.push(request);
      listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
    const args = ['--set', `subgraphs.lamps.subscriptionUrl=${url}`, '--set', 'subgraphs.lamps.subscriptionProtocol=sse'];
    federation = await startFederation(SOURCES, { args: [...args, '--set', 'headers.forward=x-tenant'] });
  });
  beforeEach(() => {
    requests = [];
  });
  afterEach(async () => {
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.stop()));
    await openTo(0);
  });
  afterAll(async () => {
    await federation.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('sends its events to clients, completed by the other subgraphs, until it completes', async () => {
    const subscriber = subscribe();
    await openTo(1);
    send({ id: '1' }, { id: 'ü→' });
    const events = [{ data: { lit: { id: '1', price: 5 } } }, { data: { lit: { id: 'ü→', price: 5 } } }];
    expect(await subscriber.wait(2)).toEqual(events);
    send('end');
    expect([await subscriber.end(), subscriber.results]).toEqual([{}, events]);
  });

  it('gets one request for equal subscriptions of a caller, with its headers, and loses it with the last client', async () => {
    const connectionParams = { 'x-tenant': 'acme', authorization: 'Basic YTpi' };
    const [first, second, other] = [subscribe({ connectionParams }), subscribe({ connectionParams }), subscribe()];
    await openTo(2);
    send({ id: '1' });
    await Promise.all([first, second, other].map((each) => each.wait(1)));
    expect(requests.map(({ headers }) => headers['x-tenant']).sort()).toEqual(['acme', undefined]);
    expect(requests.find(({ headers }) => headers['x-tenant'] === 'acme')?.headers).toMatchObject({ authorization: 'Basic YTpi' });
    await first.stop();
    await other.stop();
    await openTo(1);
    await second.stop();
    await openTo(0);
  });

  it('carries many subscriptions at once', async () => {
    const many = Array.from({ length: 60 }, (_, i) =>
      subscribe({ query: 'subscription ($room: String) { lit(room: $room) { id } }', variables: { room: String(i) } }),
    );
    await openTo(60);
    await Promise.all(many.map((each) => each.stop()));
    await openTo(0);
  });

  it('refuses with errors', async () => {
    const refused = subscribe({ query: 'subscription { lit { id @skip(if: "no") } }' });
    expect(await refused.end()).toMatchObject({ codes: ['VALIDATION_ERROR'] });
    expect(requests).toEqual([]);
  });

  it('ends the subscriptions of clients with UPSTREAM_ERROR when its connections are lost', async () => {
    const subscriber = subscribe();
    await openTo(1);
    server.closeAllConnections();
    await subscriber.end();
    expect(subscriber.results).toMatchObject([{ errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'lamps' } }] }]);
    await openTo(0);
    const next = subscribe();
    await openTo(1);
    send({ id: '2' });
    expect(await next.wait(1)).toEqual([{ data: { lit: { id: '2', price: 5 } } }]);
  });
});
