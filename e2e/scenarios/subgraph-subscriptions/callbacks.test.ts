/** Subgraphs that send events to a callback URL: Apollo Server with its plugin, and one that misbehaves. */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloServerPluginSubscriptionCallback } from '@apollo/server/plugin/subscriptionCallback';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, LINK, startFederation } from '../../stack/federation/federation.ts';
import { LIT_QUERY, LitEvents, createLitSources } from '../../stack/federation/lit-events.ts';
import { type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';

const events = new LitEvents();
const SOURCES = createLitSources(events);
const { sdl, resolvers } = SOURCES.lamps;

async function findPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a gateway whose subgraph `lamps` has its subscriptions at another server. One that sends nothing for three intervals is lost. */
async function start(url: string, heartbeatMs: number): Promise<{ readonly federation: Federation; readonly callbackUrl: string }> {
  const callbackUrl = `http://127.0.0.1:${String(await findPort())}/callbacks`;
  const settings = { 'server.callbackUrl': callbackUrl, 'server.callbackHeartbeatMs': String(heartbeatMs), 'headers.forward': 'x-tenant' };
  const ofLamps = { 'subgraphs.lamps.subscriptionUrl': url, 'subgraphs.lamps.subscriptionProtocol': 'callback' };
  const args = Object.entries({ ...settings, ...ofLamps }).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  return { federation: await startFederation(SOURCES, { args }), callbackUrl };
}

describe('a subgraph that is served by Apollo Server with its plugin for callbacks', () => {
  const server = new ApolloServer({
    schema: buildSubgraphSchema({ typeDefs: parse(LINK + sdl), resolvers }),
    plugins: [ApolloServerPluginSubscriptionCallback(), ApolloServerPluginInlineTraceDisabled()],
  });
  let federation: Federation;
  let tenants: unknown[];
  const subscribers: Subscriber[] = [];
  const subscribe = (options: Partial<Parameters<typeof subscribeTo>[1]> = {}) => {
    const subscriber = subscribeTo(federation.gateway.url, { query: LIT_QUERY, ...options });
    subscribers.push(subscriber);
    return subscriber;
  };
  const openTo = (count: number) => until(() => Promise.resolve(events.open === count));

  beforeAll(async () => {
    const { url } = await startStandaloneServer(server, {
      listen: { port: 0, host: '127.0.0.1' },
      context: ({ req }) => {
        tenants.push(req.headers['x-tenant']);
        return Promise.resolve({});
      },
    });
    tenants = [];
    ({ federation } = await start(url, 1000));
  });
  afterEach(async () => {
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.stop()));
    await openTo(0);
    tenants = [];
  });
  afterAll(async () => {
    await federation.stop();
    await server.stop();
  });

  it('sends its events to clients, completed by the other subgraphs, until it completes', async () => {
    const subscriber = subscribe();
    await openTo(1);
    events.send({ id: '1' }, { id: 'ü→' });
    const results = [{ data: { lit: { id: '1', price: 5 } } }, { data: { lit: { id: 'ü→', price: 5 } } }];
    expect(await subscriber.wait(2)).toEqual(results);
    events.send('end');
    expect([await subscriber.end(), subscriber.results]).toEqual([{}, results]);
  });

  it('gets one request for equal subscriptions of a caller, and ends it when it asks after the last client has left', async () => {
    const connectionParams = { 'x-tenant': 'acme' };
    const [first, second, other] = [subscribe({ connectionParams }), subscribe({ connectionParams }), subscribe()];
    await openTo(2);
    events.send({ id: '1' });
    await Promise.all([first, second, other].map((each) => each.wait(1)));
    expect(tenants.filter((each) => each === 'acme')).toHaveLength(1);
    await Promise.all([first.stop(), other.stop()]);
    await openTo(1);
    await second.stop();
    await openTo(0);
  });

  it('refuses a subscription with errors', async () => {
    const { codes } = await subscribe({ query: 'subscription { broken { id } }' }).end();
    expect(codes).toHaveLength(1);
  });
});

describe('a subgraph with callbacks that misbehaves', () => {
  type Answer = (ticket: Ticket) => Promise<{ status: number; body: unknown }> | { status: number; body: unknown };
  interface Ticket {
    readonly callbackUrl: string;
    readonly subscriptionId: string;
    readonly verifier: string;
    readonly heartbeatIntervalMs: number;
  }
  const HEARTBEAT_MS = 60_000;
  const ACCEPTED = { status: 200, body: { data: null } };
  let answer: Answer = () => ACCEPTED;
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const { extensions } = JSON.parse(body) as { extensions: { subscription: Ticket } };
      const { status, body: sent } = await answer(extensions.subscription);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
    });
  });
  let federation: Federation;
  let callbackUrl: string;
  let serverUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    serverUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    // No test that is slow on a busy machine loses a subscription by that.
    ({ federation, callbackUrl } = await start(serverUrl, HEARTBEAT_MS));
  });
  afterAll(async () => {
    await federation.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const call = async (
    ticket: Ticket,
    message: object,
    options: { method?: string; url?: string; headers?: Record<string, string> } = {},
  ) => {
    const { subscriptionId: id, verifier } = ticket;
    const body = { kind: 'subscription', id, verifier, ...message };
    const { status, headers } = await request(options.url ?? ticket.callbackUrl, {
      method: options.method ?? 'POST',
      body,
      ...(options.headers && { headers: options.headers }),
    });
    return [status, headers.get('subscription-protocol')];
  };
  let opened = 0;
  /** Subscribes, and resolves with the ticket that the subgraph gets. */
  const open = async (respond: Answer = () => ACCEPTED) => {
    let take: (ticket: Ticket) => void = () => undefined;
    const arrived = new Promise<Ticket>((resolve) => (take = resolve));
    answer = (ticket) => {
      take(ticket);
      return respond(ticket);
    };
    // One of its own: it could join that of the test before, whose end the gateway may not know yet.
    const subscriber = subscribeTo(federation.gateway.url, { query: `subscription Number${String(++opened)} { lit { id } }` });
    return { subscriber, ticket: await arrived };
  };
  const OF_LOSS = [{ errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'lamps' } }] }];

  it('gets a URL below that of the settings, an id, a secret and the interval; other URLs, ids and secrets change nothing', async () => {
    const { subscriber, ticket } = await open();
    const { subscriptionId: id, verifier, heartbeatIntervalMs } = ticket;
    expect([ticket.callbackUrl, heartbeatIntervalMs]).toEqual([`${callbackUrl}/${id}`, HEARTBEAT_MS]);
    expect(verifier).not.toBe(id);
    const next = { action: 'next', payload: { data: { lit: { id: 'forged' } } } };
    expect(await call(ticket, { action: 'check' })).toEqual([204, 'callback/1.0']);
    for (const wrong of [
      { verifier: id },
      { verifier: undefined },
      { verifier: 1 },
      { id: 'other' },
      { kind: 'query' },
      { payload: [] },
      { action: 'end' },
    ])
      expect([wrong, (await call(ticket, { ...next, ...wrong }))[0]]).toEqual([wrong, 400]);
    expect((await call(ticket, { action: 'complete', errors: 'none' }))[0]).toBe(400);
    expect((await call(ticket, next, { url: `${callbackUrl}/${verifier}` }))[0]).toBe(404);
    expect((await call(ticket, next, { url: callbackUrl }))[0]).toBe(404);
    expect((await call(ticket, next, { method: 'PUT' }))[0]).toBe(405);
    expect((await call(ticket, next, { headers: { 'content-type': 'text/plain' } }))[0]).toBe(415);
    expect(subscriber.results).toEqual([]);
    expect((await call(ticket, { ...next, payload: { data: { lit: { id: '7' } } } }))[0]).toBe(204);
    expect(await subscriber.wait(1)).toEqual([{ data: { lit: { id: '7' } } }]);
    expect((await call(ticket, { action: 'complete' }))[0]).toBe(202);
    expect([await subscriber.end(), (await call(ticket, next))[0]]).toEqual([{}, 404]);
  });

  it('completes the subscription, also with `errors: null`', async () => {
    const { subscriber, ticket } = await open();
    expect((await call(ticket, { action: 'complete', errors: null }))[0]).toBe(202);
    expect(await subscriber.end()).toEqual({});
  });

  it('ends the subscription with errors, with the masked ones that other errors of subgraphs have', async () => {
    const { subscriber, ticket } = await open();
    const errors = [{ message: 'No.', extensions: { code: 'FORBIDDEN' } }];
    expect((await call(ticket, { action: 'complete', errors }))[0]).toBe(202);
    expect(await subscriber.end()).toEqual({ codes: ['FORBIDDEN'] });
  });

  it('loses the subscription when it does not call back', async () => {
    answer = () => ACCEPTED;
    const impatient = await start(serverUrl, 100);
    try {
      const subscriber = subscribeTo(impatient.federation.gateway.url, { query: 'subscription { lit { id } }' });
      await subscriber.end();
      expect(subscriber.results).toMatchObject(OF_LOSS);
    } finally {
      await impatient.federation.stop();
    }
  });

  it.each<[string, { status: number; body: unknown }]>([
    ['a result', { status: 200, body: { data: { lit: { id: '1' } } } }],
    ['an empty object', { status: 200, body: {} }],
    ['no object', { status: 200, body: 1 }],
    ['a failure', { status: 502, body: 'no' }],
  ])('loses the subscription when it responds with %s', async (_, response) => {
    const { subscriber, ticket } = await open(() => response);
    await subscriber.end();
    expect(subscriber.results).toMatchObject(OF_LOSS);
    expect((await call(ticket, { action: 'check' }))[0]).toBe(404);
  });

  it('is refused for a message of more than 32 MiB, and the others are served meanwhile', async () => {
    const { subscriber, ticket } = await open();
    const large = { action: 'next', payload: { data: { lit: { id: 'x'.repeat(33 * 1024 * 1024) } } } };
    const [status] = await call(ticket, large).catch(() => [413]);
    expect(status).toBe(413);
    expect((await call(ticket, { action: 'check' }))[0]).toBe(204);
    await subscriber.stop();
  });

  it('learns with its next message that the client has left', async () => {
    const { subscriber, ticket } = await open();
    expect((await call(ticket, { action: 'check' }))[0]).toBe(204);
    await subscriber.stop();
    await until(async () => (await call(ticket, { action: 'check' }))[0] === 404);
  });
});
