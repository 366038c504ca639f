/** A gateway that serves GraphQL, GraphiQL and the probes at paths that its settings name. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import type { Browser } from 'playwright-core';
import WebSocket from 'ws';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

const PATIENCE_MS = 60_000;
const SDL = 'type Query { hello: String } type Subscription { ticks: Int }';

async function* ticks() {
  for (const each of [1, 2]) yield await Promise.resolve({ ticks: each });
}

/** Its own gateway is not used. */
let federation: Federation;
let folder: string;
let supergraph: string;
const started: RunningProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-paths-'));
  supergraph = join(folder, 'supergraph.graphql');
  const resolvers = { Query: { hello: () => 'Hello' }, Subscription: { ticks: { subscribe: ticks } } };
  federation = await startFederation({ greetings: { sdl: SDL, resolvers } });
  await writeFile(supergraph, federation.supergraphSdl);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.end('SIGTERM')));
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(env: Readonly<Record<string, string>>): Promise<RunningProcess> {
  const gateway = await startGateway(['--supergraph', supergraph, '--port', '0', '--auth', 'off'], env);
  started.push(gateway);
  return gateway;
}

const SHOP_AND_OTHER = '{ shop: { path: /shop, config: graph.yaml }, other: { hosts: [other.example.com], config: graph.yaml } }';

/** Starts a gateway with several graphs: by default two, one of which is at `/shop`. */
async function startSeveral(env: Readonly<Record<string, string>> = {}, graphs = SHOP_AND_OTHER): Promise<RunningProcess> {
  await writeFile(join(folder, 'graph.yaml'), `supergraph: { file: ${supergraph} }\nauthentication: { enabled: false }\n`);
  await writeFile(join(folder, 'trestle.yaml'), `server: { port: 0 }\ngraphs: ${graphs}\n`);
  const gateway = await startGateway(['--config', join(folder, 'trestle.yaml')], env);
  started.push(gateway);
  return gateway;
}

const ask = (url: string, body: object = { query: '{ hello }' }) => request(url, { method: 'POST', body });
const HELLO = { data: { hello: 'Hello' } };

describe('server.path', () => {
  it.each(['/api/v1/query', '/'])('%s serves GraphQL over HTTP, WebSocket and event streams, and /graphql does not', async (path) => {
    const gateway = await start({ GRAPHQL_PATH: path });
    const url = gateway.url + path;
    expect((await ask(url)).body).toEqual(HELLO);
    expect((await request(`${url}?query={hello}`, { method: 'GET' })).body).toEqual(HELLO);
    const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const received: unknown[] = [];
    for await (const { data } of client.iterate({ query: 'subscription { ticks }' })) received.push(data);
    expect(received).toEqual([{ ticks: 1 }, { ticks: 2 }]);
    const stream = await openEventStream(url, { query: 'subscription { ticks }' });
    await until(() => Promise.resolve(stream.isOver));
    expect(stream.text).toContain('{"data":{"ticks":2}}');
    const refused = await ask(`${gateway.url}/graphql`);
    expect([refused.status, refused.body]).toMatchObject([
      404,
      { errors: [{ message: `The path does not exist. Use ${path}.`, extensions: { code: 'NOT_FOUND' } }] },
    ]);
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const message = await new Promise((resolve) =>
      socket.once('error', ({ message: text }) => {
        resolve(text);
      }),
    );
    expect(message).toBe('Unexpected server response: 404');
  });

  it('is compared with the path as it is sent', async () => {
    const gateway = await start({ GRAPHQL_PATH: '/Query' });
    for (const path of ['/query', '/Query/', '//Query', '/Q%75ery', '/Query/x', '/'])
      expect((await ask(gateway.url + path)).status).toBe(404);
    expect((await ask(`${gateway.url}/Query`)).status).toBe(200);
  });

  it('is the path of requests in the access log', async () => {
    const gateway = await start({ GRAPHQL_PATH: '/query' });
    await ask(`${gateway.url}/query`);
    await until(() => Promise.resolve(gateway.lines.some((line) => line.includes('"route":"/query"'))));
    expect(gateway.lines.join('\n')).not.toContain('"route":"/graphql"');
  });

  it('is not the route of other paths in the access log', async () => {
    const gateway = await start({});
    for (const path of ['/nowhere', '/graphql/', '/graphql?a', '/graphqls']) await ask(gateway.url + path);
    const routes = () =>
      gateway.lines.flatMap((line) => (line.includes('"msg":"request"') ? [(JSON.parse(line) as { route: string }).route] : []));
    await until(() => Promise.resolve(routes().length === 4));
    expect(routes()).toEqual(['unmatched', 'unmatched', '/graphql', 'unmatched']);
  });

  it('stands behind the path of each of several graphs', async () => {
    const gateway = await startSeveral({ GRAPHQL_PATH: '/query' });
    expect((await ask(`${gateway.url}/shop/query`)).body).toEqual(HELLO);
    for (const path of ['/shop/graphql', '/query']) expect((await ask(gateway.url + path)).status).toBe(404);
  });

  it('takes effect at the next start when the file changes', async () => {
    const file = join(folder, 'reloaded.yaml');
    const text = (path: string) =>
      `server: { port: 0, path: ${path} }\nauthentication: { enabled: false }\nsupergraph: { file: ${supergraph} }\n`;
    await writeFile(file, text('/one'));
    const gateway = await startGateway(['--config', file]);
    started.push(gateway);
    await writeFile(file, text('/two'));
    await until(() => Promise.resolve(gateway.lines.some((line) => line.includes('take effect at the next start: server.path'))));
    expect((await ask(`${gateway.url}/one`)).body).toEqual(HELLO);
    expect((await ask(`${gateway.url}/two`)).status).toBe(404);
  });

  it.each([
    [{ GRAPHQL_PATH: 'graphql' }, 'GRAPHQL_PATH: must be / or a path such as /api/graphql, without a slash at the end'],
    [{ GRAPHQL_PATH: '/readyz' }, 'GRAPHQL_PATH: is the path of the readiness probe'],
    [{ LIVENESS_PATH: '/graphql' }, 'LIVENESS_PATH: is the path of GraphQL requests (server.path)'],
    [{ READINESS_PATH: '/a/../b' }, 'READINESS_PATH: must be a path such as /health, without a slash at the end'],
  ])('is refused at the start for %j', async (env, message) => {
    await expect(start(env)).rejects.toThrow(message);
  });

  it('is not / where several graphs are served', async () => {
    await expect(startSeveral({ GRAPHQL_PATH: '/' })).rejects.toThrow('GRAPHQL_PATH: must have a segment');
  });

  it('is refused where one of several graphs would get no requests', async () => {
    const places = '{ all: { config: graph.yaml }, shop: { path: /shop, config: graph.yaml } }';
    await expect(startSeveral({ GRAPHQL_PATH: '/shop/query' }, places)).rejects.toThrow(
      'GRAPHQL_PATH: gives the graph all the path /shop/query, which the graph shop gets',
    );
  });
});

describe('server.livenessPath and server.readinessPath', () => {
  it('answer as /livez and /readyz do', async () => {
    const gateway = await start({ LIVENESS_PATH: '/health', READINESS_PATH: '/ready' });
    for (const [path, status] of [
      ['/health', 'live'],
      ['/livez', 'live'],
      ['/ready', 'ready'],
      ['/readyz', 'ready'],
    ] as const)
      expect((await request(gateway.url + path, { method: 'GET' })).body).toMatchObject({ status });
    expect((await request(`${gateway.url}/healthy`, { method: 'GET' })).status).toBe(404);
  });
});

describeInChromium('GraphiQL', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Opens the page, waits for its editor, runs the operation that it proposes, and returns what went wrong. */
  async function use(url: string): Promise<string[]> {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${String(response.status())} ${response.url()}`);
    });
    page.on('requestfailed', (failed) => faults.push(`${failed.failure()?.errorText ?? ''} ${failed.url()}`));
    const workers = new Set<string>();
    page.on('worker', (worker) => workers.add(worker.url()));
    await page.goto(url, { timeout: PATIENCE_MS });
    await page.locator('.monaco-editor').first().waitFor({ timeout: PATIENCE_MS });
    await page.locator('.graphiql-execute-button').click({ timeout: PATIENCE_MS });
    await page.locator('.result-window').getByText('__typename').first().waitFor({ timeout: PATIENCE_MS });
    await until(() => Promise.resolve(workers.size > 0));
    await page.close();
    return faults;
  }

  it('is where / redirects browsers to, also below a prefix', async () => {
    const gateway = await start({ GRAPHQL_PATH: '/api/query' });
    const options = { headers: { accept: 'text/html' }, redirect: 'manual' } as const;
    const { status, headers } = await fetch(gateway.url, options);
    expect([status, new URL(headers.get('location') ?? '', 'https://proxy.example/prefix/').href]).toEqual([
      302,
      'https://proxy.example/prefix/api/query',
    ]);
  });

  it.each(['/api/query', '/'])(
    'works at %s',
    async (path) => {
      const gateway = await start({ GRAPHQL_PATH: path });
      expect(await use(gateway.url + path)).toEqual([]);
    },
    3 * PATIENCE_MS,
  );

  it(
    'works at the path of one of several graphs',
    async () => {
      const gateway = await startSeveral();
      expect(await use(`${gateway.url}/shop/graphql`)).toEqual([]);
    },
    3 * PATIENCE_MS,
  );

  it(
    'works behind a proxy that removes a prefix',
    async () => {
      const gateway = await start({});
      const server = createServer((incoming, response) => {
        const { method, headers, url = '' } = incoming;
        const outgoing = forward(gateway.url + url.replace(/^\/prefix/, ''), { method, headers }, (answer) => {
          answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
        });
        incoming.pipe(outgoing);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const faults = await use(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/prefix/graphql`);
      server.close();
      server.closeAllConnections();
      expect(faults).toEqual([]);
    },
    3 * PATIENCE_MS,
  );
});
