/** The configuration of a process that serves several graphs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from './config.ts';

describe('readConfig with several graphs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Writes the files, and reads the first one. */
  const read = async (files: Readonly<Record<string, string>>, env: Record<string, string> = {}, args: readonly string[] = []) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return readConfig(['--config', join(folder, 'trestle.yaml'), ...args], env);
  };
  const faultsOf = (...given: Parameters<typeof read>) =>
    read(...given).then(
      () => [],
      (error: unknown) => (error as Error).message.replaceAll(`${folder}/`, '').split('\n  ').slice(1),
    );
  const PROCESS = `server: { port: 4010 }
authentication: { enabled: false }
limits: { maxDepth: 5, maxAliases: 6 }
graphs:
  shop: { path: /shop, config: shop.yaml }
  Admin: { hosts: [Admin.example.com], config: admin.yaml }
`;
  const [SHOP, ADMIN] = ['supergraph: { file: shop.graphql }', 'supergraph: { file: admin.graphql }'];

  it('gives each graph its own file, and what that leaves out from the process', async () => {
    const shop = `${SHOP}\nlimits: { maxDepth: 9 }\nsubgraphs: { carts: { url: "http://carts/" } }`;
    const { port, graphs } = await read({ 'trestle.yaml': PROCESS, 'shop.yaml': shop, 'admin.yaml': ADMIN });
    expect(port).toBe(4010);
    expect(graphs.map(({ place }) => place)).toEqual([
      { name: 'shop', path: '/shop', hosts: [] },
      { name: 'admin', path: '', hosts: ['admin.example.com'] },
    ]);
    expect(graphs.map(({ config }) => config.supergraph)).toEqual([
      { kind: 'file', file: join(folder, 'shop.graphql') },
      { kind: 'file', file: join(folder, 'admin.graphql') },
    ]);
    expect(graphs.map(({ config }) => config.limits)).toMatchObject([
      { maxDepth: 9, maxAliases: 6 },
      { maxDepth: 5, maxAliases: 6 },
    ]);
    expect(graphs.map(({ config }) => [...config.subgraphUrls.keys()])).toEqual([['carts'], []]);
  });

  it("prefers the environment to the file of the process, and a graph's own file to both", async () => {
    const files = { 'trestle.yaml': PROCESS, 'shop.yaml': `${SHOP}\nlimits: { maxDepth: 9 }`, 'admin.yaml': ADMIN };
    const { graphs } = await read(files, { MAX_DEPTH: '7' });
    expect(graphs.map(({ config }) => config.limits.maxDepth)).toEqual([9, 7]);
  });

  it('reads graphs from the environment', async () => {
    const files = { 'trestle.yaml': 'authentication: { enabled: false }', 'shop.yaml': SHOP };
    const { graphs } = await read(files, { GRAPH_CONFIG_SHOP: join(folder, 'shop.yaml'), GRAPH_PATH_SHOP: '/shop' });
    expect(graphs.map(({ place }) => place)).toEqual([{ name: 'shop', path: '/shop', hosts: [] }]);
  });

  it('gives each graph the settings of single stages of the coprocessor, and lets it name other stages', async () => {
    const coprocessor = '{ url: "http://c/", stages: [onPlan], perStage: { onPlan: { timeoutMs: 5, onFailure: pass } } }';
    const { graphs } = await read({
      'trestle.yaml': `${PROCESS}extensions: { coprocessor: ${coprocessor} }`,
      'shop.yaml': `${SHOP}\nextensions: { coprocessor: { stages: [onContext] } }`,
      'admin.yaml': ADMIN,
    });
    expect(graphs.map(({ config }) => config.extensions.coprocessor?.stages)).toEqual([
      [{ stage: 'onContext', url: 'http://c/', timeoutMs: 1000, onFailure: 'refuse' }],
      [{ stage: 'onPlan', url: 'http://c/', timeoutMs: 5, onFailure: 'pass' }],
    ]);
  });

  it('names every fault of all files at once', async () => {
    const shop = 'supergraph: { file: shop.graphql }\nserver: { port: 1 }\nlimits: { maxDepth: 0 }\ngraphs: { x: { config: y.yaml } }';
    expect(await faultsOf({ 'trestle.yaml': PROCESS, 'shop.yaml': shop })).toEqual([
      'shop.yaml:2:11: server.port: holds for the whole process: set it in the file that names the graphs',
      'shop.yaml:4:1: graphs: must not be in the file of a graph',
      'shop.yaml:3:21: limits.maxDepth: must be an integer from 1 to 1000',
      'admin.yaml: does not exist',
    ]);
  });

  it.each([
    ['without a file', 'shop:', 'graphs.shop: `config` must name the configuration file of the graph'],
    ['with an empty section', 'shop: {}', 'graphs.shop: `config` must name the configuration file of the graph'],
    ['with a path that ends with /', 'shop: { config: shop.yaml, path: /shop/ }', 'graphs.shop.path: must be a path such as /shop'],
    ['with a path that has /graphql', 'shop: { config: shop.yaml, path: /graphql }', 'graphs.shop.path: must be a path such as /shop'],
    ['with a path of dots', 'shop: { config: shop.yaml, path: /.. }', 'graphs.shop.path: must be a path such as /shop'],
    ['with a host that has a port', 'shop: { config: shop.yaml, hosts: ["a:1"] }', 'graphs.shop.hosts: must be names of hosts'],
    [
      'at the place of another',
      'a: { config: shop.yaml, hosts: [h] }\n  b: { config: shop.yaml, hosts: [H] }',
      'graphs.b: `path` is that of a',
    ],
    ['with a bad name', 'a-b: { config: shop.yaml }', 'graphs.a-b: must be a name of at most 40 letters'],
  ])('refuses a graph %s', async (_, graphs, fault) => {
    const text = `authentication: { enabled: false }\ngraphs:\n  ${graphs}\n`;
    const faults = await faultsOf({ 'trestle.yaml': text, 'shop.yaml': SHOP });
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  it('refuses a supergraph, and settings of subgraphs, beside graphs', async () => {
    const text = `${PROCESS}supergraph: { file: s.graphql }\nsubgraphs: { a: { url: "http://a/" } }`;
    const faults = await faultsOf({ 'trestle.yaml': text, 'shop.yaml': SHOP, 'admin.yaml': ADMIN }, {}, ['--supergraph', 'b.graphql']);
    const message = 'must be in the file of a graph, because there are several';
    expect(faults).toEqual([
      `SUPERGRAPH_PATH: ${message}`,
      expect.stringContaining(`supergraph.file: ${message}`),
      expect.stringMatching(/^trestle\.yaml:\d+:\d+: subgraphs\.a\.url: must be in the file of a graph/),
    ]);
    const files = { 'trestle.yaml': PROCESS, 'shop.yaml': SHOP, 'admin.yaml': ADMIN };
    expect(await faultsOf(files, { SUBGRAPH_URL_A: 'http://a/' })).toEqual([`SUBGRAPH_URL_A: ${message}`]);
  });

  it('needs keys of tokens for graphs that check them, not for the process', async () => {
    const text = 'graphs: { shop: { config: shop.yaml } }';
    expect(await faultsOf({ 'trestle.yaml': text, 'shop.yaml': SHOP })).toEqual([
      expect.stringContaining('shop.yaml: authentication: needs trustedIssuersFile, publicKeyFile or jwksUrl'),
    ]);
    expect(await faultsOf({ 'trestle.yaml': text, 'shop.yaml': `${SHOP}\nauthentication: { enabled: false }` })).toEqual([]);
  });

  it('names a copy on disk that two graphs with different sources would share', async () => {
    const of = (path: string) => `supergraph: { url: "http://artifacts/${path}", cacheFile: kept.graphql }`;
    const files = { 'trestle.yaml': PROCESS, 'shop.yaml': of('shop') };
    expect(await faultsOf({ ...files, 'admin.yaml': of('admin') })).toEqual([
      'admin.yaml:1:46: supergraph.cacheFile: is that of the graph shop, which has another source: name another file',
    ]);
    expect(await faultsOf({ ...files, 'admin.yaml': of('shop') })).toEqual([]);
  });
});
