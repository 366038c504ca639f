/** What gateways take from the registry: ours by signed artifacts, others by the protocols of Hive's CDN and Apollo Uplink. */
import { EventEmitter, on, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { UplinkSupergraphManager } from '@apollo/gateway';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { startCollector } from '../../stack/collectors/collector.ts';
import { type RunningSubgraph, serve, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';
import { LINK, type TestRegistry, newEnvironment, publish, startRegistry } from './registry-client.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

/** How many publishes follow each other under load. */
const PUBLISHES = IS_LONG ? 200 : 60;
const TICK_MS = 10;
const QUIET_LOGGER = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let registry: TestRegistry;
let subgraph: RunningSubgraph;
/** The events of the subgraph: numbers that follow each other, the same for all its subscribers. */
const ticks = new EventEmitter();
let tick = 0;
let ticking: NodeJS.Timeout;
async function* readTicks() {
  for await (const [value] of on(ticks, 'tick') as AsyncIterable<[number]>) yield { ticks: value };
}
const SUBSCRIPTION = 'type Subscription { ticks: Int }';
const SOURCE = {
  sdl: `type Query { base: Int } ${SUBSCRIPTION}`,
  resolvers: { Query: { base: () => 7 }, Subscription: { ticks: { subscribe: readTicks } } },
};
const sdlWith = (...fields: readonly string[]) =>
  `${LINK}\ntype Query { base: Int ${fields.map((name) => `${name}: Int`).join(' ')} } ${SUBSCRIPTION}`;
/** Publishes a subgraph with these fields. */
const release = (environment: string, ...fields: readonly string[]) => publish(registry, environment, { base: sdlWith(...fields) });
beforeAll(async () => {
  registry = await startRegistry({ REGISTRY_SEED: 'on' });
  subgraph = serve({ name: 'base', source: SOURCE, received: [], federation: { intercept: undefined } });
  subgraph.server.listen(0, '127.0.0.1');
  await once(subgraph.server, 'listening');
  ticking = setInterval(() => ticks.emit('tick', ++tick), TICK_MS);
});
afterAll(async () => {
  clearInterval(ticking);
  await subgraph.halt();
  await registry.stop();
});

it('publishes the subgraphs of schema/ as prod with REGISTRY_SEED', async () => {
  const query = '{ environment(name: "prod") { subgraphs { name } release { number actor } } }';
  const read = async () => (await registry.graphql<{ environment: object | null }>(query)).data?.environment ?? null;
  await until(async () => (await read()) !== null);
  expect(await read()).toEqual({
    subgraphs: [{ name: 'content' }, { name: 'orders' }, { name: 'users' }],
    release: { number: 1, actor: 'seed' },
  });
});

describe('a gateway with REGISTRY_URL', () => {
  const gateways: RunningProcess[] = [];
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.end('SIGKILL');
  });
  const start = async (environment: string, env: Readonly<Record<string, string>> = {}) => {
    const { url, token, publicKeyFile, home } = registry;
    const gateway = await startGateway(['--port', '0', '--auth', 'off'], {
      ...{ REGISTRY_URL: url, REGISTRY_ENVIRONMENT: environment, REGISTRY_TOKEN: token },
      ...{ REGISTRY_PUBLIC_KEY_FILE: publicKeyFile, SUPERGRAPH_CACHE_FILE: join(home, `${environment}.graphql`) },
      SUBGRAPH_URL_BASE: `http://127.0.0.1:${String((subgraph.server.address() as AddressInfo).port)}/graphql`,
      ...env,
    });
    gateways.push(gateway);
    return gateway;
  };
  const ask = (gateway: RunningProcess, query: string) => request(`${gateway.url}/graphql`, { method: 'POST', body: { query } });
  const hasField = async (gateway: RunningProcess, name: string) =>
    !JSON.stringify((await ask(gateway, `{ ${name} }`)).body).includes('Cannot query field');

  it(`serves ${String(PUBLISHES)} releases in a row, and drops no request of a load and no event of a subscription`, async () => {
    const environment = newEnvironment();
    await release(environment);
    const gateway = await start(environment);
    const valuesOf = ({ results }: Subscriber) => results.map(({ data }) => data?.['ticks'] as number);
    const subscribers = Array.from({ length: 3 }, () => subscribeTo(gateway.url, { query: 'subscription { ticks }' }));
    for (const subscriber of subscribers) await subscriber.wait(1);
    const outcomes = new Set<string>();
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 2 }, async () => {
        while (!isOver) {
          const { status, text } = await ask(gateway, '{ base }');
          outcomes.add(`${String(status)} ${text}`);
        }
      }),
    );
    for (let i = 1; i <= PUBLISHES; i++)
      expect(await release(environment, `field${String(i)}`)).toMatchObject({ release: { number: i + 1 } });
    await until(() => hasField(gateway, `field${String(PUBLISHES)}`));
    isOver = true;
    await load;
    expect([...outcomes]).toEqual(['200 {"data":{"base":7}}']);
    const last = tick;
    for (const subscriber of subscribers) {
      await until(() => Promise.resolve((valuesOf(subscriber).at(-1) ?? 0) >= last));
      expect(subscriber.ending()).toBeUndefined();
      const [first = 0, ...others] = valuesOf(subscriber);
      expect(others).toEqual(others.map((_, index) => first + 1 + index));
      await subscriber.stop();
    }
  });

  it.each([0, 20, 100])('starts with the old launch or the new one, whole, when it is killed %s ms into a publish', async (delayMs) => {
    const environment = newEnvironment();
    await release(environment, 'one');
    const killed = await start(environment);
    const publishing = release(environment, 'one', 'two');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await killed.end('SIGKILL');
    await publishing;
    // Without a registry it has its copy on disk only.
    await registry.process().end('SIGKILL');
    const again = await start(environment);
    expect((await ask(again, '{ base }')).body).toEqual({ data: { base: 7 } });
    expect(await hasField(again, 'one')).toBe(true);
    await registry.start();
    await until(() => hasField(again, 'two'));
  });

  it('shows the launch that it serves in /readyz, in its metrics and in its traces', async () => {
    const environment = newEnvironment();
    const first = await release(environment);
    const collector = await startCollector();
    const gateway = await start(environment, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    const ready = async () => (await request(`${gateway.url}/readyz`, { method: 'GET' })).body as Record<string, unknown>;
    const launch = first.release?.launch.id;
    expect(await ready()).toMatchObject({ launch, release: 1 });
    await ask(gateway, '{ base }');
    const named = () => collector.spans.filter(({ name }) => name === 'GraphQL execute');
    await until(() => Promise.resolve(named().length > 0));
    expect(named()[0]?.attributes).toContainEqual({ key: 'trestle.launch.id', value: { stringValue: launch } });
    const second = (await release(environment, 'one')).release?.launch.id;
    await until(async () => (await ready())['launch'] === second);
    expect(await ready()).toMatchObject({ release: 2 });
    const { text } = await request(`${gateway.url}/metrics`, { method: 'GET' });
    const info = text.split('\n').filter((line) => line.startsWith('trestle_supergraph_info{'));
    expect(info).toEqual([
      expect.stringMatching(`^trestle_supergraph_info{role="current",hash="[0-9a-f]{16}",launch="${second ?? ''}",release="2"} 1$`),
    ]);
    await collector.stop();
  });

  it('starts from its copy while the registry is down, and takes the next release once it is back', async () => {
    const environment = newEnvironment();
    await release(environment, 'one');
    const first = await start(environment);
    expect(await hasField(first, 'one')).toBe(true);
    await first.end('SIGTERM');
    await registry.process().end('SIGKILL');
    const second = await start(environment);
    expect(await hasField(second, 'one')).toBe(true);
    await registry.start();
    await release(environment, 'two');
    await until(() => hasField(second, 'two'));
  });

  it('refuses an artifact that is older, changed, cut off or not signed, also at its next start', async () => {
    const environment = newEnvironment();
    const read = async () => {
      const headers = { authorization: `Bearer ${registry.token}` };
      return (await fetch(`${registry.url}/environments/${environment}/artifact`, { headers })).text();
    };
    await release(environment, 'one');
    const old = await read();
    await release(environment, 'two');
    const current = await read();
    let served = current;
    const relay = createServer((_, response) => response.end(served)).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const url = `http://127.0.0.1:${String((relay.address() as AddressInfo).port)}`;
    const settings = { REGISTRY_URL: url, SUPERGRAPH_POLL_INTERVAL_MS: '100' };
    const gateway = await start(environment, settings);
    const failures = () => readMetric(gateway.url, 'trestle_supergraph_reads_total{result="failed"}');
    for (const poison of [old, current.replace('two', 'six'), current.slice(0, -20), sdlWith('three')]) {
      const before = await failures();
      served = poison;
      await until(async () => (await failures()) > before);
      expect(await hasField(gateway, 'two')).toBe(true);
    }
    await gateway.end('SIGTERM');
    served = old;
    expect(await hasField(await start(environment, settings), 'two')).toBe(true);
    relay.closeAllConnections();
    relay.close();
  });
});

describe('the gateways of others', () => {
  it("read the current launch by the protocol of Hive's CDN, with a key and an ETag", async () => {
    const environment = newEnvironment();
    await release(environment);
    const read = (headers: Record<string, string>, target = environment) =>
      fetch(`${registry.url}/artifacts/v1/${target}/supergraph`, { headers });
    const key = { 'x-hive-cdn-key': registry.token };
    const response = await read(key);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('@join__graph(name: "base"');
    const etag = response.headers.get('etag') ?? '';
    expect((await read({ ...key, 'if-none-match': etag })).status).toBe(304);
    await release(environment, 'more');
    expect((await read({ ...key, 'if-none-match': etag })).status).toBe(200);
    expect([(await read({})).status, (await read({ 'x-hive-cdn-key': 'x' })).status, (await read(key, 'unknown')).status]).toEqual([
      400, 403, 404,
    ]);
  });

  it("read it by the protocol of Apollo Uplink: with Apollo's own client, and a key that is refused", async () => {
    const environment = newEnvironment();
    await release(environment);
    const open = (apiKey: string) =>
      new UplinkSupergraphManager({
        ...{ apiKey, graphRef: `trestle@${environment}`, uplinkEndpoints: [`${registry.url}/uplink`], logger: QUIET_LOGGER },
        ...{ initialMaxRetries: 0, maxRetries: 0, shouldRunSubgraphHealthcheck: false },
      });
    const options = {
      update: () => undefined,
      healthCheck: () => Promise.resolve(),
      getDataSource: () => ({ process: () => Promise.reject(new Error()) }),
    };
    const { supergraphSdl, cleanup } = await open(registry.token).initialize(options);
    await cleanup();
    expect(supergraphSdl).toContain('@join__graph(name: "base"');
    await expect(open('trestle_reg_x').initialize(options)).rejects.toThrow();
  });

  it("read it by the query of Hive Gateway's client of Apollo Uplink, which also asks a refusal for its delay", async () => {
    const environment = newEnvironment();
    await release(environment);
    const query = `query ($apiKey: String!, $graphRef: String!, $lastSeenId: ID) {
      routerConfig(ref: $graphRef, apiKey: $apiKey, ifAfterId: $lastSeenId) { __typename
        ... on FetchError { code message minDelaySeconds } ... on Unchanged { id minDelaySeconds }
        ... on RouterConfigResult { id supergraphSdl: supergraphSDL minDelaySeconds messages { level body } } } }`;
    const read = async (variables: object) => {
      const reply = await request(`${registry.url}/uplink`, { method: 'POST', body: { query, variables } });
      return (reply.body as { data: { routerConfig: { id?: string } } }).data.routerConfig;
    };
    const graph = { apiKey: registry.token, graphRef: `any@${environment}` };
    const { id } = await read(graph);
    expect(await read({ ...graph, lastSeenId: id })).toEqual({ __typename: 'Unchanged', id, minDelaySeconds: 10 });
    expect(await read({ ...graph, apiKey: 'x' })).toMatchObject({ code: 'AUTHENTICATION_FAILED', minDelaySeconds: 10 });
    for (const graphRef of ['any@\0', `any@${environment}_\0`])
      expect(await read({ ...graph, graphRef })).toMatchObject({ code: 'UNKNOWN_REF', minDelaySeconds: 10 });
  });
});
