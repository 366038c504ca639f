/** Gateways that serve contracts: validation and introspection know what the contract has, and nothing else (issue 17 point 4, ADR 45). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type RunningSubgraph, serve, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { createChanges } from './contract-client.ts';

const HEAD = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])\n';
const USERS = `type Query { user: User @tag(name: "public") audit: String hits: [Hit] @tag(name: "public") }
type User @key(fields: "id") { id: ID! name: String @tag(name: "public") note(of: Kind): String }
enum Kind { ANY SECRET @tag(name: "internal") } union Hit @tag(name: "public") = User | Staff
type Staff { secret: String @tag(name: "internal") }`;
const ORDERS = `type User @key(fields: "id") { id: ID! orders: [Order] @tag(name: "partner") }
type Order { total: Int @tag(name: "partner") cost: Int @tag(name: "internal") }`;
/** The same graph, whose orders are public too. */
const PUBLIC_ORDERS = ORDERS.replaceAll('@tag(name: "partner")', '@tag(name: "partner") @tag(name: "public")');

let registry: TestRegistry;
let changes: ReturnType<typeof createChanges>;
const subgraphs: RunningSubgraph[] = [];
const urls: Record<string, string> = {};
beforeAll(async () => {
  registry = await startRegistry();
  changes = createChanges(registry);
  const user = { __typename: 'User', id: '1', name: 'Ada', note: 'secret' };
  const users = { Query: { user: () => user, audit: () => 'all', hits: () => [user, { __typename: 'Staff', secret: 'x' }] } };
  const orders = { User: { __resolveReference: (reference: object) => ({ ...reference, orders: [{ total: 5, cost: 3 }] }) } };
  for (const [name, source] of Object.entries({ USERS: { sdl: USERS, resolvers: users }, ORDERS: { sdl: ORDERS, resolvers: orders } })) {
    const subgraph = serve({ name, source, received: [], federation: { intercept: undefined } });
    subgraph.server.listen(0, '127.0.0.1');
    await once(subgraph.server, 'listening');
    urls[`SUBGRAPH_URL_${name}`] = `http://127.0.0.1:${String((subgraph.server.address() as AddressInfo).port)}/graphql`;
    subgraphs.push(subgraph);
  }
});
afterAll(async () => {
  for (const subgraph of subgraphs) await subgraph.halt();
  await registry.stop();
});

const gateways: RunningProcess[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.end('SIGKILL');
});

/** Returns an environment with the contracts `public` and `partner`. */
async function prepare(): Promise<string> {
  const environment = newEnvironment();
  await publish(registry, environment, { users: HEAD + USERS, orders: HEAD + ORDERS });
  await changes.create({ environment, name: 'public', include: ['public'] });
  await changes.create({ environment, name: 'partner', include: ['public', 'partner'] });
  return environment;
}

const settingsOf = (environment: string, url = registry.url) => ({
  ...{ REGISTRY_URL: url, REGISTRY_ENVIRONMENT: environment, REGISTRY_TOKEN: registry.token, ...urls },
  ...{ REGISTRY_PUBLIC_KEY_FILE: registry.publicKeyFile, CANARY_HEADER: 'x-client-id', INTROSPECTION: 'on' },
});
async function start(environment: string, env: Readonly<Record<string, string>> = {}): Promise<RunningProcess> {
  const gateway = await startGateway(['--port', '0', '--auth', 'off'], { ...settingsOf(environment), ...env });
  gateways.push(gateway);
  return gateway;
}

interface Asked {
  readonly path?: string;
  readonly client?: string;
}
async function ask({ url }: RunningProcess, query: string, { path = '', client = 'a' }: Asked = {}): Promise<string> {
  const headers = { 'x-client-id': client };
  return JSON.stringify((await request(`${url}${path}/graphql`, { method: 'POST', headers, body: { query } })).body);
}
const TYPES = '{ __schema { types { name fields { name } enumValues { name } } } }';
const HIDDEN = /"(note|audit|id|cost|Staff|secret|SECRET|Kind)"/;

describe('a gateway with REGISTRY_CONTRACT', () => {
  it('serves what the contract has, with keys that it does not show', async () => {
    const gateway = await start(await prepare(), { REGISTRY_CONTRACT: 'partner' });
    expect(await ask(gateway, '{ user { name orders { total } } }')).toBe('{"data":{"user":{"name":"Ada","orders":[{"total":5}]}}}');
  });

  it('neither executes nor introspects nor suggests what the contract leaves out', async () => {
    const gateway = await start(await prepare(), { REGISTRY_CONTRACT: 'public' });
    for (const query of ['{ audit }', '{ user { note } }', '{ user { id } }', '{ user { orders { total } } }', '{ user { nam } }']) {
      const refused = await ask(gateway, query);
      expect(refused).toContain('Cannot query field');
      expect(refused).not.toMatch(/did you mean "(note|audit|id|orders)"/i);
    }
    const introspected = await ask(gateway, TYPES);
    expect(introspected).toContain('"name"');
    expect(introspected).not.toMatch(HIDDEN);
    expect(await ask(gateway, '{ __type(name: "Staff") { name } }')).toBe('{"data":{"__type":null}}');
  });

  it('returns null, with an error that does not name its type, for an object of a type that the contract leaves out', async () => {
    const gateway = await start(await prepare(), { REGISTRY_CONTRACT: 'public' });
    for (const [selection, user] of [
      ['__typename', '{"__typename":"User"}'],
      ['... on User { name }', '{"name":"Ada"}'],
      ['__typename ... on User { name }', '{"__typename":"User","name":"Ada"}'],
    ] as const) {
      const body = await ask(gateway, `{ hits { ${selection} } }`);
      expect(body).toContain(`{"data":{"hits":[${user},null]},"errors":[`);
      expect(body).not.toContain('Staff');
    }
  });

  it('follows changes of tags by a publish, and of the contract, without a restart', async () => {
    const environment = await prepare();
    const gateway = await start(environment, { REGISTRY_CONTRACT: 'public' });
    const query = '{ user { orders { total } } }';
    expect(await ask(gateway, query)).toContain('Cannot query field');
    await publish(registry, environment, { orders: HEAD + PUBLIC_ORDERS });
    await until(async () => (await ask(gateway, query)).includes('"total":5'));
    await publish(registry, environment, { orders: HEAD + ORDERS });
    await until(async () => (await ask(gateway, query)).includes('Cannot query field'));
    await changes.update({ environment, name: 'public', include: ['public', 'partner'] });
    await until(async () => (await ask(gateway, query)).includes('"total":5'));
  });

  it('serves the canary of a launch to the same clients as the whole graph does, and goes back with a rollback', async () => {
    const environment = await prepare();
    const [whole, contract] = [await start(environment), await start(environment, { REGISTRY_CONTRACT: 'public' })];
    const staging = newEnvironment();
    // The canary has a public field more; its clients are known by it.
    await publish(registry, staging, {
      users: `${HEAD}${USERS.replace('note(', 'added: Int @tag(name: "public") note(')}`,
      orders: HEAD + ORDERS,
    });
    await changes.promote({ from: staging, to: environment, percent: 30 });
    const listChosen = async (gateway: RunningProcess) => {
      const chosen: string[] = [];
      for (let at = 0; at < 100; at++) {
        const body = await ask(gateway, TYPES, { client: `client-${String(at)}` });
        if (body.includes('"added"')) chosen.push(String(at));
        if (gateway === contract) expect(body).not.toMatch(HIDDEN);
      }
      return chosen;
    };
    const isCanary = async ({ url }: RunningProcess) => 'canary' in ((await request(`${url}/readyz`, { method: 'GET' })).body as object);
    for (const gateway of [whole, contract]) await until(() => isCanary(gateway));
    const chosen = await listChosen(contract);
    expect(chosen.length).toBeGreaterThan(10);
    expect(chosen.length).toBeLessThan(60);
    expect(await listChosen(whole)).toEqual(chosen);
    await changes.promote({ to: environment });
    await until(async () => (await listChosen(contract)).length === 100);
    await changes.rollback({ environment });
    await until(async () => (await listChosen(contract)).length === 0);
  });

  it('refuses the artifact of another contract, and of the whole graph', async () => {
    const environment = await prepare();
    for (const replacement of ['/contracts/partner/', '/']) {
      const relay = createServer((incoming, response) => {
        const path = (incoming.url ?? '').replace('/contracts/public/', replacement);
        void fetch(`${registry.url}${path}`, { headers: { authorization: incoming.headers.authorization ?? '' } }).then(async (reply) => {
          response.writeHead(reply.status, { 'content-type': 'text/plain' }).end(await reply.text());
        });
      });
      relay.listen(0, '127.0.0.1');
      await once(relay, 'listening');
      const url = `http://127.0.0.1:${String((relay.address() as AddressInfo).port)}`;
      await expect(start(environment, { REGISTRY_URL: url, REGISTRY_CONTRACT: 'public' })).rejects.toThrow(/not of the contract public/);
      relay.close();
    }
  });
});

describe('a gateway with several graphs', () => {
  it('serves the whole graph and its contracts, each at its path', async () => {
    const environment = await prepare();
    const files = join(registry.home, environment);
    const registryOf = (contract: string) => `supergraph:
  registry:
    url: ${registry.url}
    environment: ${environment}
    contract: ${contract}
    token: \${READER_TOKEN}
    publicKeyFile: ${registry.publicKeyFile}
subgraphs:
  users: { url: ${urls['SUBGRAPH_URL_USERS'] ?? ''} }
  orders: { url: ${urls['SUBGRAPH_URL_ORDERS'] ?? ''} }
`;
    await writeFile(`${files}-whole.yaml`, registryOf('').replace('    contract: \n', ''));
    await writeFile(`${files}-public.yaml`, registryOf('public'));
    await writeFile(`${files}-partner.yaml`, registryOf('partner'));
    const graphs = ['whole', 'public', 'partner'].map((name) => {
      return `  ${name}:\n    config: ${files}-${name}.yaml\n${name === 'whole' ? '' : `    path: /${name}\n`}`;
    });
    await writeFile(`${files}.yaml`, `graphs:\n${graphs.join('')}`);
    const gateway = await startGateway(['--config', `${files}.yaml`, '--port', '0'], {
      ...{ READER_TOKEN: registry.token, AUTH: 'off' },
    });
    gateways.push(gateway);
    const query = '{ user { note orders { total } } }';
    expect(await ask(gateway, query)).toBe('{"data":{"user":{"note":"secret","orders":[{"total":5}]}}}');
    expect(await ask(gateway, query, { path: '/public' })).toContain('Cannot query field');
    expect(await ask(gateway, '{ user { name } }', { path: '/public' })).toBe('{"data":{"user":{"name":"Ada"}}}');
    expect(await ask(gateway, '{ user { orders { total } } }', { path: '/partner' })).toBe('{"data":{"user":{"orders":[{"total":5}]}}}');
    await publish(registry, environment, { orders: HEAD + PUBLIC_ORDERS });
    await until(async () => (await ask(gateway, '{ user { orders { total } } }', { path: '/public' })).includes('"total":5'));
  });
});
