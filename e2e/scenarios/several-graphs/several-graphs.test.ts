/** One gateway that serves several graphs, chosen by path and host. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { HIGH_RATE_LIMITS, type RunningProcess } from '../../stack/processes/process.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const COMMAND = fileURLToPath(new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url));
const ADMIN_HOST = 'admin.example.com';

async function* threeSales() {
  for (const sold of [1, 2, 3]) yield await Promise.resolve({ sold });
}

const SHOP = {
  carts: {
    sdl: 'type Query { cart: Cart } type Cart @key(fields: "id") { id: ID! size: Int } type Subscription { sold: Int }',
    resolvers: { Query: { cart: () => ({ id: '1', size: 2 }) }, Subscription: { sold: { subscribe: threeSales } } },
  },
};
const ADMIN = { staff: { sdl: 'type Query { boss: String }', resolvers: { Query: { boss: () => 'Ada' } } } };

/** The federations stand for subgraphs and supergraphs; their own gateways are not used. */
let shop: Federation;
let admin: Federation;
let folder: string;
let gateway: RunningProcess;
const { privateKeyPem, publicKeyPem } = generateTokenKeys();

const write = async (name: string, content: string) => {
  await writeFile(join(folder, `${name}.next`), content);
  await rename(join(folder, `${name}.next`), join(folder, name));
};
const SHOP_YAML = `
supergraph: { file: shop.graphql }
authentication: { enabled: false }
headers: { request: [{ insert: X-Graph, value: shop }] }
`;
const ADMIN_YAML = `
supergraph: { file: admin.graphql }
authentication: { publicKeyFile: keys.pem }
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-graphs-'));
  [shop, admin] = await Promise.all([startFederation(SHOP), startFederation(ADMIN)]);
  await write('shop.graphql', shop.supergraphSdl);
  await write('admin.graphql', admin.supergraphSdl);
  await write('keys.pem', publicKeyPem);
  await write('shop.yaml', SHOP_YAML);
  await write('admin.yaml', ADMIN_YAML);
  const graphs = `{ shop: { path: /shop, config: shop.yaml }, admin: { hosts: [${ADMIN_HOST}], config: admin.yaml } }`;
  await write('trestle.yaml', `server: { port: 0 }\nlimits: { maxAliases: 4 }\ngraphs: ${graphs}\n`);
  gateway = await startGateway(['--config', join(folder, 'trestle.yaml')], HIGH_RATE_LIMITS);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  await Promise.all([shop.stop(), admin.stop()]);
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: { readonly data?: unknown; readonly errors?: readonly { readonly message: string }[] };
}

/** fetch cannot set Host. */
async function ask(path: string, query: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const sent = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  sent.end(JSON.stringify({ query }));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) as Answer['body'] };
}

describe('a gateway with two graphs', () => {
  it('serves each at its path or host, and neither elsewhere', async () => {
    expect(await ask('/shop/graphql', '{ cart { id size } }')).toEqual({ status: 200, body: { data: { cart: { id: '1', size: 2 } } } });
    expect(await ask('/graphql', '{ boss }', { host: ADMIN_HOST })).toEqual({ status: 200, body: { data: { boss: 'Ada' } } });
    for (const [path, host] of [
      ['/graphql', 'example.com'],
      ['/shop', 'example.com'],
      ['/shop/graphql', ADMIN_HOST],
      ['/shopping/graphql', 'example.com'],
    ] as const)
      expect((await ask(path, '{ __typename }', { host })).status).toBe(404);
    const elsewhere = await ask('/shop/query', '{ __typename }');
    expect(elsewhere.body.errors?.[0]?.message).toBe('The path does not exist. Use /shop/graphql.');
  });

  it('answers for one graph what does not exist in it, though the other has it', async () => {
    const { status, body } = await ask('/shop/graphql', '{ boss }');
    expect([status, body.errors?.[0]?.message]).toEqual([400, expect.stringContaining('boss')]);
  });

  it('keeps their credentials apart', async () => {
    const { token } = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_1' }));
    const withToken = (value: string) => ({ host: ADMIN_HOST, authorization: `Bearer ${value}` });
    expect((await ask('/graphql', '{ boss }', withToken(token))).status).toBe(200);
    expect((await ask('/graphql', '{ boss }', withToken('no-token'))).status).toBe(401);
    // The shop leaves credentials to its subgraphs.
    expect((await ask('/shop/graphql', '{ cart { id } }', { authorization: 'Bearer no-token' })).status).toBe(200);
    expect(shop.received.at(-1)?.headers).toMatchObject({ authorization: 'Bearer no-token', 'x-graph': 'shop' });
    expect(admin.received.at(-1)?.headers).not.toHaveProperty('x-graph');
  });

  it('carries subscriptions of a graph over a WebSocket at its path', async () => {
    const subscriber = subscribeTo(`${gateway.url}/shop`, { query: 'subscription { sold }' });
    const results = await subscriber.wait(3);
    expect(results.map(({ data }) => data)).toEqual([{ sold: 1 }, { sold: 2 }, { sold: 3 }]);
    await subscriber.stop();
  });

  it('refuses a WebSocket that is for no graph', async () => {
    const requestId = '6f1c2a52-7f0a-4f0e-9d6e-0d5b9a2f4d12';
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'x-request-id': requestId };
    const { port } = gateway;
    const [response] = (await once(httpRequest({ port, path: '/graphql', headers }).end(), 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers['x-request-id']]).toEqual([404, requestId]);
    expect(response.headers).toMatchObject({ date: expect.any(String) as unknown, 'x-content-type-options': 'nosniff' });
    expect(JSON.parse(await text(response))).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND', requestId } }] });
  });

  it('shows browsers GraphiQL at the path of a graph', async () => {
    const page = await fetch(`${gateway.url}/shop/graphql`, { headers: { accept: 'text/html' } });
    const script = /src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
    expect((await fetch(new URL(script, page.url))).headers.get('content-type')).toContain('javascript');
  });

  it('names the graph in metrics, in /readyz and in the log', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^trestle_supergraph_current\{graph="shop"\} 1$/m);
    expect(metrics).toMatch(/^trestle_supergraph_current\{graph="admin"\} 1$/m);
    const helps = metrics.split('\n').filter((line) => line.startsWith('# HELP'));
    expect(new Set(helps).size).toBe(helps.length);
    const { body } = await request(`${gateway.url}/readyz`, { method: 'GET' });
    expect(body).toEqual({ status: 'ready', supergraphs: { shop: expect.any(String) as unknown, admin: expect.any(String) as unknown } });
    const isOfShop = (line: string) => line.includes('"graph":"shop"') && line.includes('"msg":"request"');
    await until(() => Promise.resolve(gateway.lines.some(isOfShop)));
  });

  it('replaces the supergraph of one graph, and leaves the other alone', async () => {
    const hashes = async () =>
      ((await request(`${gateway.url}/readyz`, { method: 'GET' })).body as { supergraphs: Record<string, string> }).supergraphs;
    const before = await hashes();
    await write('shop.graphql', shop.supergraphSdl.replace('size: Int', 'size: Int\n  extra: Int'));
    await until(async () => (await ask('/shop/graphql', '{ cart { extra } }')).status === 200);
    const after = await hashes();
    expect(after['admin']).toBe(before['admin']);
    expect(after['shop']).not.toBe(before['shop']);
  });

  it('keeps the plans of a graph when only the file of another one changes', async () => {
    const lookups = () =>
      Promise.all(
        ['hit', 'miss'].map((result) => readMetric(gateway.url, `trestle_operation_cache_total{result="${result}",graph="admin"}`)),
      );
    await ask('/graphql', '{ boss }', { host: ADMIN_HOST });
    const [hits = 0, misses = 0] = await lookups();
    expect(misses).toBeGreaterThan(0);
    const readApplied = () => gateway.lines.filter((line) => line.includes('applied a changed configuration')).length;
    const change = async (text: string) => {
      const before = readApplied();
      await write('shop.yaml', text);
      await until(() => Promise.resolve(readApplied() > before));
    };
    await change(`${SHOP_YAML}limits: { maxDepth: 1 }\n`);
    expect((await ask('/shop/graphql', '{ cart { id } }')).status).toBe(400);
    await ask('/graphql', '{ boss }', { host: ADMIN_HOST });
    expect(await lookups()).toEqual([hits + 1, misses]);
    await change(SHOP_YAML);
  });

  it('applies a changed file of a graph, and of the process, without a restart', async () => {
    const aliased = '{ a: __typename b: __typename c: __typename }';
    const statuses = async () => [
      (await ask('/shop/graphql', aliased)).status,
      (await ask('/graphql', aliased, { host: ADMIN_HOST })).status,
    ];
    const become = (expected: readonly number[]) => until(async () => JSON.stringify(await statuses()) === JSON.stringify(expected));
    expect(await statuses()).toEqual([200, 200]);
    await write('shop.yaml', `${SHOP_YAML}limits: { maxAliases: 2 }\n`);
    await become([400, 200]);
    const graphs = `{ shop: { path: /shop, config: shop.yaml }, admin: { hosts: [${ADMIN_HOST}], config: admin.yaml } }`;
    await write('trestle.yaml', `server: { port: 0 }\nlimits: { maxAliases: 1 }\ngraphs: ${graphs}\n`);
    await become([400, 400]);
    await write('admin.yaml', `${ADMIN_YAML}limits: { maxAliases: 9 }\n`);
    await become([400, 200]);
    await write('admin.yaml', `${ADMIN_YAML}server: { port: 1 }\n`);
    await until(() => Promise.resolve(gateway.lines.some((line) => line.includes('refused a changed configuration'))));
    expect(await statuses()).toEqual([400, 200]);
  });
});

describe('trestle-gateway check', () => {
  const run = (file: string) =>
    new Promise<readonly [unknown, string]>((resolve) => {
      execFile(process.execPath, [COMMAND, 'check', '--config', join(folder, file)], (error, stdout, stderr) => {
        resolve([error?.code ?? 0, (stdout + stderr).replaceAll(`${folder}/`, '')]);
      });
    });

  it('checks every graph', async () => {
    await write('bad.graphql', 'type Query { a: Int }');
    await write('bad.yaml', 'supergraph: { file: bad.graphql }\nauthentication: { enabled: false }\n');
    await write('check.yaml', 'graphs: { shop: { path: /a, config: good.yaml }, bad: { path: /b, config: bad.yaml } }\n');
    await write('good.yaml', SHOP_YAML);
    const [code, output] = await run('check.yaml');
    expect(code).toBe(2);
    expect(output).toContain('shop.graphql is valid: 1 subgraphs (carts).');
    expect(output).toMatch(/^bad\.graphql: /m);
  });
});
