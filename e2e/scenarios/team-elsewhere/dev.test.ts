/** `trestle dev`: the gateway over a deployed graph with a subgraph that runs here (docs/cli.md). Everything is a process of its own. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { request, until } from '../../stack/clients/client.ts';
import { findChildren } from '../../stack/processes/supervisor-process.ts';
import { type PackedCommand, installCommand } from '../cli/packed-command.ts';
import { type TestSubgraph, startSubgraph } from '../cli/test-subgraph.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { type DevCommand, startDev } from './dev-command.ts';
import { linkGateway } from './installed-commands.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])\n';
const PRODUCTS = `${LINK}type Query {\n  product: Product\n}\ntype Product @key(fields: "id") {\n  id: ID!\n}\n`;
const REVIEWS = `${LINK}type Query {\n  reviews: Int\n}\n`;

let command: PackedCommand;
let registry: TestRegistry;
let deployed: TestSubgraph;
let local: TestSubgraph;
let environment: string;
let running: DevCommand | undefined;
beforeAll(async () => {
  [command, registry, deployed, local] = await Promise.all([
    installCommand(),
    startRegistry(),
    startSubgraph(PRODUCTS),
    startSubgraph(REVIEWS),
  ]);
}, 120_000);
afterEach(async () => {
  await running?.end('SIGKILL');
  running = undefined;
});
afterAll(async () => {
  await Promise.all([command.remove(), registry.stop(), deployed.stop(), local.stop()]);
});

async function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const port = await reserveTestPort();
  const bin = join(command.folder, 'node_modules/@trestle/cli/bin/trestle.mjs');
  running = startDev(bin, ['--subgraph', `reviews=${local.url}`, '--port', String(port), '--interval-ms', '100', ...args], {
    cwd: command.folder,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token },
      ...{ REGISTRY_ENVIRONMENT: environment, SUBGRAPH_URL_PRODUCTS: deployed.url, TMPDIR: command.folder },
      ...env,
    },
  });
  const ask = async (query: string) =>
    JSON.stringify((await request(`http://127.0.0.1:${String(port)}/graphql`, { method: 'POST', body: { query } })).body);
  return { dev: running, ask };
}
/** Publishes both subgraphs. The deployed reviews are at an address where nothing answers. */
async function deploy(): Promise<void> {
  environment = newEnvironment();
  local.deploy(REVIEWS);
  await publish(registry, environment, { products: PRODUCTS, reviews: REVIEWS });
}
const isAlive = (pid: number) => existsSync(`/proc/${String(pid)}`);

describe('trestle dev', () => {
  // The first of these tests installs it.
  it('says how to install the gateway when there is none', async () => {
    await deploy();
    const { code, stderr } = await command.run(['dev', '--subgraph', `reviews=${local.url}`, '--environment', environment], {
      ...{ REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token },
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('npm install @trestle/gateway') });
    await linkGateway(command);
  });

  it('names the path that the gateway is given', async () => {
    await deploy();
    const { dev } = await start([], { GRAPHQL_PATH: '/api' });
    await dev.says(`/api serves the graph of ${environment}`);
  });

  it('serves the deployed graph with the local subgraph, and a field that is added there', async () => {
    await deploy();
    const { dev, ask } = await start();
    await dev.says(`serves the graph of ${environment} with reviews at ${local.url}`);
    expect(await ask('{ product { __typename } reviews }')).toBe('{"data":{"product":null,"reviews":null}}');
    expect(await ask('{ added }')).toContain('Cannot query field');
    local.deploy(REVIEWS.replace('reviews: Int', 'reviews: Int\n  added: Int'));
    await dev.says('The new graph is served.');
    expect(await ask('{ added }')).toBe('{"data":{"added":null}}');
  });

  it('takes what others publish meanwhile', async () => {
    await deploy();
    const { dev, ask } = await start();
    await dev.says('serves the graph of');
    const next = PRODUCTS.replace('product: Product', 'product: Product\n  others: Int');
    deployed.deploy(next);
    await publish(registry, environment, { products: next });
    await dev.says('The new graph is served.');
    expect(await ask('{ others reviews }')).toBe('{"data":{"others":null,"reviews":null}}');
  });

  it('prints a composition error with its place in the local schema, keeps the last graph, and goes on when it is fixed', async () => {
    await deploy();
    const { dev, ask } = await start();
    await dev.says('serves the graph of');
    const conflict = `${LINK}type Query {\n  reviews: Int\n  product: Int\n}\n`;
    local.deploy(conflict);
    await dev.says('The graph does not compose. The last one is still served.');
    expect(dev.output()).toMatch(new RegExp(`error \\w+ .*[\\s\\S]*${local.url}:\\d+:\\d+\\n[\\s\\S]*\\^`, 'u'));
    expect(await ask('{ product { __typename } reviews }')).toBe('{"data":{"product":null,"reviews":null}}');
    local.deploy(REVIEWS.replace('reviews: Int', 'reviews: Int\n  fixed: Int'));
    await dev.says('The new graph is served.');
    expect(await ask('{ fixed }')).toBe('{"data":{"fixed":null}}');
  });

  it('waits for a subgraph that does not run yet, and passes flags to the gateway', async () => {
    await deploy();
    const late = await reserveTestPort();
    const { dev, ask } = await start(['--subgraph', `late=http://127.0.0.1:${String(late)}/graphql`, '--', '--introspection', 'off']);
    await dev.says('Subgraph late cannot be read');
    const subgraph = await startSubgraph(`${LINK}type Query {\n  late: Int\n}\n`, late);
    await dev.says('Subgraph late can be read again.');
    await dev.says('serves the graph of');
    expect(await ask('{ late reviews }')).toBe('{"data":{"late":null,"reviews":null}}');
    expect(await ask('{ __schema { description } }')).toContain('"errors"');
    await subgraph.stop();
  });

  it.each(['SIGINT', 'SIGKILL'] as const)('leaves no process behind after %s', async (signal) => {
    await deploy();
    const temporary = await mkdtemp(join(command.folder, 'tmp-'));
    const { dev } = await start([], { TMPDIR: temporary });
    await dev.says('serves the graph of');
    expect(readdirSync(temporary)).toHaveLength(1);
    const processes = findChildren(dev.pid, 'trestle-gateway');
    expect(processes).toHaveLength(1);
    expect(await dev.end(signal)).toBe(signal === 'SIGINT' ? 0 : null);
    await until(() => Promise.resolve(!processes.some(isAlive)));
    // What a process that was killed cannot remove is in the folder of temporary files.
    if (signal === 'SIGINT') expect(readdirSync(temporary)).toEqual([]);
  });

  it('ends with code 4 when the environment has no release, and when the gateway cannot start', async () => {
    environment = newEnvironment();
    const { dev } = await start();
    await dev.says('has no release');
    expect(await dev.ended).toBe(4);
    await deploy();
    const { dev: refused } = await start(['--', '--nothing']);
    await refused.says('The gateway has ended with code');
    expect(await refused.ended).toBe(4);
  });
});
