/** The clients that people use, as they are: graphql-ws, graphql-sse, Apollo Client, urql. */
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { type Sink, createClient as createWsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(harbours.sources);
});
afterAll(() => federation.stop());

const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
const ship = (n: number) => ({ id: `s${String(n)}`, name: `Ship ${String(n)}` });
const data = (n: number) => ({ arrived: { ...ship(n), cargo: `cargo of s${String(n)}` } });
const createWs = () => createWsClient({ url: federation.url.replace('http', 'ws'), webSocketImpl: WebSocket });

/** Listens, hears two events, and leaves. */
async function hearTwo(listen: (next: (value: unknown) => void, fail: (error: unknown) => void) => () => void): Promise<unknown[]> {
  const heard: unknown[] = [];
  const faults: unknown[] = [];
  const leave = listen(
    (value) => heard.push(value),
    (error) => faults.push(error),
  );
  await listening(1);
  for (const n of [1, 2]) arrivals.publish(ship(n));
  await until(() => Promise.resolve(heard.length >= 2 || faults.length > 0));
  leave();
  await listening(0);
  expect(faults).toEqual([]);
  return heard;
}

function listenByUrql(client: Client, next: (value: unknown) => void): () => void {
  const subscription = client.subscription(ARRIVALS, {}).subscribe(({ data }) => {
    next(data);
  });
  return () => {
    subscription.unsubscribe();
  };
}

describe('a subscription', () => {
  it('is served to graphql-ws', async () => {
    const client = createWs();
    const heard = await hearTwo((next, error) => client.subscribe({ query: ARRIVALS }, { next, error, complete: () => undefined }));
    expect(heard).toEqual([{ data: data(1) }, { data: data(2) }]);
    await client.dispose();
  });

  it.each([true, false])('is served to graphql-sse (single connection: %s)', async (singleConnection) => {
    const client = createSseClient({ url: federation.url, singleConnection });
    const heard = await hearTwo((next, error) => client.subscribe({ query: ARRIVALS }, { next, error, complete: () => undefined }));
    expect(heard).toEqual([{ data: data(1) }, { data: data(2) }]);
    client.dispose();
  });

  it('is served to Apollo Client over graphql-ws', async () => {
    const ws = createWs();
    const client = new ApolloClient({ link: new GraphQLWsLink(ws), cache: new InMemoryCache() });
    const heard = await hearTwo((next, error) => {
      const subscription = client.subscribe({ query: gql(ARRIVALS) }).subscribe({ next, error });
      return () => {
        subscription.unsubscribe();
      };
    });
    expect(heard).toMatchObject([{ data: data(1) }, { data: data(2) }]);
    await ws.dispose();
  });

  it('is served to Apollo Client over multipart HTTP, its default', async () => {
    const client = new ApolloClient({ link: new HttpLink({ uri: federation.url }), cache: new InMemoryCache() });
    const heard = await hearTwo((next, error) => {
      const subscription = client.subscribe({ query: gql(ARRIVALS) }).subscribe({ next, error });
      return () => {
        subscription.unsubscribe();
      };
    });
    expect(heard).toMatchObject([{ data: data(1) }, { data: data(2) }]);
  });

  it('is served to urql over graphql-ws', async () => {
    const ws = createWs();
    const client = new Client({
      url: federation.url,
      preferGetMethod: false,
      exchanges: [
        cacheExchange,
        subscriptionExchange({
          forwardSubscription: ({ query = '', variables }) => ({
            subscribe: (sink) => ({
              unsubscribe: ws.subscribe({ query, variables: variables as Record<string, unknown> }, sink as Sink),
            }),
          }),
        }),
      ],
    });
    const heard = await hearTwo((next) => listenByUrql(client, next));
    expect(heard).toMatchObject([data(1), data(2)]);
    await ws.dispose();
  });

  it('is served to urql over its own fetch, which accepts server-sent events', async () => {
    const client = new Client({
      url: federation.url,
      preferGetMethod: false,
      fetchSubscriptions: true,
      exchanges: [cacheExchange, fetchExchange],
    });
    const heard = await hearTwo((next) => listenByUrql(client, next));
    expect(heard).toMatchObject([data(1), data(2)]);
  });
});

describe('a query', () => {
  it('is answered over the socket of graphql-ws', async () => {
    const client = createWs();
    for await (const result of client.iterate({ query: '{ cargo }' })) expect(result).toEqual({ data: { cargo: 'grain' } });
    await client.dispose();
  });

  it('is answered to Apollo Client and urql by HTTP', async () => {
    const apollo = new ApolloClient({ link: new HttpLink({ uri: federation.url }), cache: new InMemoryCache() });
    expect((await apollo.query({ query: gql('{ cargo }') })).data).toEqual({ cargo: 'grain' });
    const urql = new Client({ url: federation.url, preferGetMethod: false, exchanges: [fetchExchange] });
    expect((await urql.query('{ cargo }', {}).toPromise()).data).toEqual({ cargo: 'grain' });
  });
});
