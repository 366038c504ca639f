/** Subgraphs that listen on Unix domain sockets: requests, several addresses, subscriptions, and sockets that do not exist. */
import { mkdtemp, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import {
  type Answer,
  type Federation,
  type FederationOptions,
  type Received,
  serve,
  startFederation,
} from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const SOURCES = {
  people: {
    sdl: 'type Query { me: Person } type Subscription { ticks: Int } type Person @key(fields: "id") { id: ID! }',
    resolvers: {
      Query: { me: () => ({ id: '1' }) },
      // eslint-disable-next-line @typescript-eslint/require-await -- a generator that waits for nothing
      Subscription: { ticks: { subscribe: async function* ticks() { yield { ticks: 1 }; } } }, // prettier-ignore
    },
  },
  names: {
    sdl: 'type Person @key(fields: "id") { id: ID! name: String }',
    resolvers: { Person: { __resolveReference: () => ({ id: '1' }), name: () => 'Ada' } },
  },
};
const QUERY = '{ me { id name } }';
const ADA = { me: { id: '1', name: 'Ada' } };

let folder: string;
const opened: { stop(): unknown }[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-unix-'));
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Serves a subgraph at a socket of this name. */
async function listen(name: keyof typeof SOURCES, file: string = name): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const running = serve({ name, source: SOURCES[name], received, federation: { intercept: undefined } });
  opened.push({ stop: () => running.halt() });
  return { url: `${await listenAt(running.server, file)}?path=/graphql`, received };
}

async function listenAt(server: Server, file: string): Promise<string> {
  const path = join(folder, file);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return `unix://${path}`;
}

async function start(options: FederationOptions): Promise<Federation> {
  const federation = await startFederation(SOURCES, options);
  opened.push(federation);
  return federation;
}

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions['code']);

describe('a subgraph at a Unix domain socket', () => {
  it.each([
    ['lean', 'trestle'],
    ['undici', 'trestle'],
    ['lean', 'apollo'],
  ])('answers requests of the client %s and the engine %s', async (client, engine) => {
    const [people, names] = [await listen('people'), await listen('names')];
    const env = { SUBGRAPH_URL_PEOPLE: people.url, SUBGRAPH_URL_NAMES: names.url, UPSTREAM_CLIENT: client };
    const federation = await start({ env, args: ['--engine', engine] });
    for (let i = 0; i < 3; i++) expect((await federation.ask(QUERY)).body).toMatchObject({ data: ADA });
    expect([people.received.length, names.received.length, federation.received.length]).toEqual([3, 3, 0]);
    expect(people.received[0]?.headers.host).toBe('localhost');
    expect(await readMetric(federation.gateway.url, 'trestle_subgraph_connections_created_total{subgraph="people"}')).toBe(1);
  });

  it('is found by its URL in the supergraph', async () => {
    const names = await listen('names');
    const patch = (sdl: string) => sdl.replace(/(name: "names", url: )"[^"]*"/, `$1"${names.url}"`);
    const federation = await start({ patch });
    expect((await federation.ask(QUERY)).body).toEqual({ data: ADA });
    expect(names.received).toHaveLength(1);
  });

  it('may have several addresses, of which one that fails is ejected', async () => {
    const [first, second] = [await listen('names', 'first'), await listen('names', 'second')];
    const missing = `unix://${join(folder, 'missing')}?path=/graphql`;
    const federation = await start({ env: { SUBGRAPH_URLS_NAMES: [first.url, missing, second.url].join(' ') } });
    for (let i = 0; i < 30; i++) expect((await federation.ask(QUERY)).body).toEqual({ data: ADA });
    expect(Math.min(first.received.length, second.received.length)).toBeGreaterThan(3);
    const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
    expect(text).toContain(`address="${join(folder, 'missing')}"`);
  });

  it.each(['lean', 'undici'])('that does not exist is unreachable for the client %s, until it exists', async (client) => {
    const url = `unix://${join(folder, 'names')}?path=/graphql`;
    const federation = await start({ env: { SUBGRAPH_URL_NAMES: url, UPSTREAM_CLIENT: client, SUBGRAPH_ERRORS: 'mask' } });
    const { body } = await federation.ask(QUERY);
    expect([body.data, codesOf(body)]).toEqual([{ me: { id: '1', name: null } }, ['UPSTREAM_ERROR']]);
    expect(JSON.stringify(body)).not.toContain(folder);
    const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
    expect(text).toMatch(/trestle_subgraph_request_errors_total\{[^}]*UNREACHABLE[^}]*\} [1-9]/);
    await listen('names');
    await until(async () => codesOf((await federation.ask(QUERY)).body).length === 0);
  });

  it('sends events over a WebSocket', async () => {
    const people = await listen('people', 'with space:and colon');
    const federation = await start({ env: { SUBGRAPH_URL_PEOPLE: people.url.replaceAll(' ', '%20') } });
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { ticks }' });
    expect(await subscriber.wait(1)).toEqual([{ data: { ticks: 1 } }]);
    expect(await subscriber.end()).toEqual({});
    await subscriber.stop();
    expect([people.received.length, federation.received.length]).toEqual([1, 0]);
  });

  it('sends server-sent events at an address of its own', async () => {
    const paths: (string | undefined)[] = [];
    const server = createServer((incoming, response) => {
      paths.push(incoming.url);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: next\ndata: {"data":{"ticks":2}}\n\nevent: complete\ndata:\n\n');
    });
    const url = await listenAt(server, 'events');
    opened.push({ stop: () => server.close() });
    const env = { SUBGRAPH_WS_URL_PEOPLE: `${url}?path=/events`, SUBGRAPH_SUBSCRIPTION_PROTOCOL_PEOPLE: 'sse' };
    const federation = await start({ env });
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { ticks }' });
    expect(await subscriber.wait(1)).toEqual([{ data: { ticks: 2 } }]);
    await subscriber.end();
    await subscriber.stop();
    expect(paths).toEqual(['/events']);
  });

  it('with a path that is not absolute, or too long, is refused at the start', async () => {
    const startWith = (url: string) => startFederation(SOURCES, { env: { SUBGRAPH_URL_NAMES: url } });
    await expect(startWith('unix://names.sock')).rejects.toThrow('absolute path');
    await expect(startWith(`unix:///${'a'.repeat(200)}`)).rejects.toThrow('exceeds the limit of 107 bytes');
  });
});
