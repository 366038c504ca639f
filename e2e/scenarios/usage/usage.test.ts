/** Usage: what clients send reaches the registry, and decides its checks (issue 17 points 3 and 5). */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type TestRegistry, LINK, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { startLossyProxy } from './lossy-proxy.ts';
import { checkSubgraph, createToken, readUsage } from './usage-client.ts';

const SDL = `${LINK}
type Query { user(id: ID, by: By): User }
type User { id: ID! name: String unused: String status: Status }
enum Status { OPEN CLOSED } input By { email: String range: Range } input Range { from: Int to: Int }`;
const without = (text: string) => SDL.replace(text, '');

let registry: TestRegistry;
let token: string;
let subgraph: Server;
beforeAll(async () => {
  registry = await startRegistry({ REGISTRY_CHECK_ENOUGH_DAYS: '0', REGISTRY_CHECK_ENOUGH_REQUESTS: '20' });
  token = await createToken(registry, ['READ', 'REPORT']);
  subgraph = createServer((incoming, response) => {
    incoming.resume();
    const body = '{"data":{"user":{"__typename":"User","id":"1","name":"Ada","unused":null,"status":"OPEN"}}}';
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  subgraph.listen(0, '127.0.0.1');
  await once(subgraph, 'listening');
});
afterAll(async () => {
  subgraph.close();
  await registry.stop();
});

const gateways: RunningProcess[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.end('SIGTERM')));
});
const start = async (environment: string, env: Readonly<Record<string, string>> = {}) => {
  const settings = {
    ...{ REGISTRY_URL: registry.url, REGISTRY_ENVIRONMENT: environment, REGISTRY_TOKEN: token },
    ...{ REGISTRY_PUBLIC_KEY_FILE: registry.publicKeyFile, USAGE_INTERVAL_MS: '200', SUPERGRAPH_POLL_INTERVAL_MS: '100' },
    SUBGRAPH_URL_USERS: `http://127.0.0.1:${String((subgraph.address() as AddressInfo).port)}/graphql`,
  };
  const gateway = await startGateway(['--port', '0', '--auth', 'off'], { ...settings, ...env });
  gateways.push(gateway);
  return gateway;
};
const WEB = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1.4' };
const IOS = { 'x-graphql-client-name': 'ios', 'x-graphql-client-version': '7' };
/** Sends a request so many times. */
const ask = async (gateway: RunningProcess, query: string, { times = 1, headers = {}, variables = {} } = {}) => {
  for (let i = 0; i < times; i++) {
    const { status } = await request(`${gateway.url}/graphql`, { method: 'POST', headers, body: { query, variables } });
    expect(status).toBe(200);
  }
};
const prepare = async () => {
  const environment = newEnvironment();
  await publish(registry, environment, { users: SDL });
  return environment;
};
const untilRecorded = (environment: string, requests: number) =>
  until(async () => (await readUsage(registry, environment)).requests === requests);

describe('checkSubgraphs', () => {
  it('refuses a breaking change of what a client used in the last minutes, and names operation, client, version and share', async () => {
    const environment = await prepare();
    const gateway = await start(environment);
    await ask(gateway, 'query Name { user(id: "ada") { name } }', { times: 6, headers: WEB });
    await ask(gateway, 'query Name { user(id: "bob") { name } }', { times: 3, headers: IOS });
    await ask(gateway, '{ user { id } }', { times: 21 });
    await untilRecorded(environment, 30);
    const { verdict, changes, usage } = await checkSubgraph(registry, environment, without('name: String'));
    expect({ verdict, usage }).toEqual({ verdict: 'FAILED', usage: { days: 0, operations: 2, requests: 30 } });
    expect(changes).toMatchObject([{ coordinate: 'User.name', level: 'BREAKING', verdict: 'FAIL', affectedCount: 1 }]);
    const [affected] = changes[0]?.affected ?? [];
    expect(affected).toMatchObject({
      ...{ name: 'Name', requests: 9, percent: 30 },
      clients: [
        { name: 'web', version: '1.4', requests: 6, percent: 20 },
        { name: 'ios', version: '7', requests: 3, percent: 10 },
      ],
    });
    expect(Date.now() - Date.parse(affected?.lastSeen ?? '')).toBeLessThan(5 * 60_000);
  });

  it('has not enough data for what no client used, until there are enough requests; then it passes', async () => {
    const environment = await prepare();
    const changed = without('unused: String');
    expect(await checkSubgraph(registry, environment, changed)).toMatchObject({ verdict: 'FAILED', usage: null });
    const gateway = await start(environment);
    await ask(gateway, '{ user { name } }', { times: 19 });
    await untilRecorded(environment, 19);
    const few = await checkSubgraph(registry, environment, changed);
    expect(few).toMatchObject({ verdict: 'NOT_ENOUGH_DATA', changes: [{ verdict: 'NOT_ENOUGH_DATA', affected: [] }] });
    await ask(gateway, '{ user { name } }');
    await untilRecorded(environment, 20);
    expect(await checkSubgraph(registry, environment, changed)).toMatchObject({ verdict: 'PASSED', changes: [{ verdict: 'PASS' }] });
    expect(await checkSubgraph(registry, environment, { sdl: changed, policy: { enoughDays: 1 } })).toMatchObject({
      verdict: 'NOT_ENOUGH_DATA',
    });
  });

  it('applies the policy of the request: excluded and anonymous clients, shares, counts, inputs and additions', async () => {
    const environment = await prepare();
    const gateway = await start(environment);
    await ask(gateway, '{ user { name } }', { times: 2, headers: WEB });
    await ask(gateway, '{ user { status } }', { times: 1 });
    await ask(gateway, '{ user { id } }', { times: 27, headers: IOS });
    await untilRecorded(environment, 30);
    const verdict = async (sdl: string, policy: object) => (await checkSubgraph(registry, environment, { sdl, policy })).verdict;
    const removed = without('name: String');
    expect(await verdict(removed, {})).toBe('FAILED');
    for (const policy of [{ excludedClients: ['web@1.4'] }, { minimumPercent: 10 }, { minimumCount: 3 }])
      expect(await verdict(removed, policy)).toBe('PASSED');
    expect(await verdict(without('status: Status'), { anonymousClients: 'IGNORE' })).toBe('PASSED');
    const input = without('email: String');
    expect([await verdict(input, {}), await verdict(input, { inputs: 'ALWAYS' })]).toEqual(['PASSED', 'FAILED']);
    const added = SDL.replace('OPEN CLOSED', 'OPEN CLOSED LATE');
    expect([await verdict(added, {}), await verdict(added, { additions: 'FAIL' })]).toEqual(['PASSED', 'FAILED']);
  });

  it('takes every field of an input type as used when a variable gives it, and only those of the text otherwise', async () => {
    const environment = await prepare();
    const gateway = await start(environment);
    await ask(gateway, '{ user(by: { email: "ada@example.com" }) { id } }', { times: 20 });
    await untilRecorded(environment, 20);
    expect((await checkSubgraph(registry, environment, without('email: String'))).verdict).toBe('FAILED');
    expect((await checkSubgraph(registry, environment, without('from: Int'))).verdict).toBe('PASSED');
    await ask(gateway, 'query ($by: By) { user(by: $by) { id } }', { variables: { by: { email: 'ada@example.com' } } });
    await untilRecorded(environment, 21);
    expect((await checkSubgraph(registry, environment, without('from: Int'))).verdict).toBe('FAILED');
  });
});

describe('a gateway', () => {
  it('reports texts without what clients put into them, and counts requests that fail', async () => {
    const environment = await prepare();
    const gateway = await start(environment);
    const secret = 'ada@example.com';
    await ask(gateway, `query A { x: user(id: "${secret}", by: { email: "${secret}" }) { id } }`, { headers: WEB });
    await request(`${gateway.url}/graphql`, {
      method: 'POST',
      body: { query: 'query B($by: By) { user(by: $by) { id } }', variables: { by: 1 } },
    });
    await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: '{ nothing }' } });
    await untilRecorded(environment, 2);
    const usage = await readUsage(registry, environment);
    expect(usage).toMatchObject({ requests: 2, errors: 1 });
    expect(usage.operations.map(({ text }) => text).sort()).toEqual([
      'query A{user(id:"" by:{email:""}){id}}',
      'query B($by:By){user(by:$by){id}}',
    ]);
    expect(JSON.stringify(usage)).not.toContain('ada');
  });

  it('counts each request once with several workers', async () => {
    const environment = await prepare();
    const gateway = await start(environment, { WORKERS: '2' });
    await Promise.all(
      Array.from({ length: 10 }, () => ask(gateway, '{ user { id } }', { times: 4, headers: { ...WEB, connection: 'close' } })),
    );
    await untilRecorded(environment, 40);
    expect(await readUsage(registry, environment)).toMatchObject({
      requests: 40,
      operations: [{ requests: 40 }],
      clients: [{ requests: 40 }],
    });
  });

  it('keeps what it has while the registry is down, and loses nothing; sends the rest when it stops', async () => {
    const environment = await prepare();
    const gateway = await start(environment);
    await ask(gateway, '{ user { id } }', { times: 3 });
    await untilRecorded(environment, 3);
    await registry.process().end('SIGTERM');
    await ask(gateway, '{ user { id name } }', { times: 5 });
    await until(async () => (await readMetric(gateway.url, 'trestle_usage_failures_total')) >= 2);
    await ask(gateway, '{ user { id name } }', { times: 4 });
    expect(await readMetric(gateway.url, 'trestle_usage_requests_total{outcome="dropped"}')).toBe(0);
    await registry.start();
    await untilRecorded(environment, 12);
    await ask(gateway, '{ user { id } }');
    await gateways.pop()?.end('SIGTERM');
    expect(await readUsage(registry, environment)).toMatchObject({ requests: 13 });
  });

  it('sends a report again whose response was lost, and it counts once', async () => {
    const environment = await prepare();
    const lossy = await startLossyProxy(registry.url);
    const gateway = await start(environment, { REGISTRY_URL: lossy.url });
    await ask(gateway, '{ user { id } }', { times: 7 });
    await until(async () => (await readMetric(gateway.url, 'trestle_usage_requests_total{outcome="reported"}')) === 7);
    expect(lossy.lost()).toBe(2);
    expect(await readUsage(registry, environment)).toMatchObject({ requests: 7, operations: [{ requests: 7 }] });
    await gateways.pop()?.end('SIGTERM');
    lossy.close();
  });

  it('serves without a report when the token may not report, or a setting says so', async () => {
    const environment = await prepare();
    const reader = await createToken(registry, ['READ']);
    const gateway = await start(environment, { REGISTRY_TOKEN: reader });
    await ask(gateway, '{ user { id } }', { times: 5 });
    await until(async () => (await readMetric(gateway.url, 'trestle_usage_failures_total')) >= 1);
    const silent = await start(environment, { USAGE_REPORTS: 'off' });
    await ask(silent, '{ user { id } }', { times: 5 });
    expect(await readMetric(silent.url, 'trestle_usage_failures_total')).toBeNaN();
    expect((await readUsage(registry, environment)).requests).toBe(0);
  });
});
