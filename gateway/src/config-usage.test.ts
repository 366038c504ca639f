/** Settings of reports of usage, and of documents of Hive, that contradict each other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from './config.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes the files, and reads the first one. */
const read = async (text: string, files: Readonly<Record<string, string>> = {}) => {
  const file = join(folder, 'trestle.yaml');
  for (const [name, content] of Object.entries({ ...files, 'trestle.yaml': text })) await writeFile(join(folder, name), content);
  return readConfig(['--config', file, '--auth', 'off'], {});
};
const faultsOf = (...given: Parameters<typeof read>) =>
  read(...given).then(
    () => '',
    (error: unknown) => (error as Error).message.replaceAll(`${folder}/`, ''),
  );

describe('readConfig with reports of usage', () => {
  it.each([
    ['a target without a token', 'target: shop/api/production', 'usage.hive.target: needs usage.hive.token (HIVE_ACCESS_TOKEN)'],
    ['a target that is no path', 'token: hunter2, target: shop', 'usage.hive.target: must be organization/project/target'],
    ['a target that leads elsewhere', 'token: hunter2, target: ../../admin', 'usage.hive.target: must be organization/project/target'],
    ['a share above 1', 'token: hunter2, sampleRate: 2', 'usage.hive.sampleRate: must be'],
    ['a token with a line break', 'token: "hunter2\\n"', 'usage.hive.token: must have 1 to 8192 visible ASCII characters'],
    [
      'a registry beside it',
      'token: hunter2 } }\nsupergraph: { registry: { url: "https://r"',
      'usage.hive.token: must not be set beside a registry',
    ],
    ['the other engine', 'token: hunter2 } }\nengine: { name: apollo, x: { y: 1', 'usage.hive.token: needs the engine trestle'],
  ])('reports %s among the settings of Hive', async (_, hive, fault) => {
    const faults = await faultsOf(`usage: { hive: { ${hive} } }\n`);
    expect(faults).toContain(fault);
    expect(faults).not.toContain('hunter2');
  });

  it.each([
    ['reports without a graph', '', 'usage.graphos.reports: needs supergraph.uplink.graphRef (APOLLO_GRAPH_REF)'],
    ['reports without a key', '', 'usage.graphos.reports: needs supergraph.uplink.key (APOLLO_KEY)'],
    ['Hive beside it', ', hive: { token: hunter2 }', 'usage.graphos.reports: must be off beside usage.hive.token'],
    [
      'a registry beside it',
      ' }\nsupergraph: { registry: { url: "https://hunter2.example.com" }',
      'usage.graphos.reports: must be off beside a registry',
    ],
    ['the other engine', ' }\nengine: { name: apollo', 'usage.graphos.reports: needs the engine trestle'],
  ])('reports %s among the settings of GraphOS', async (_, rest, fault) => {
    const faults = await faultsOf(`usage: { graphos: { reports: true }${rest} }\n`);
    expect(faults).toContain(fault);
    expect(faults).not.toContain('hunter2');
  });

  it.each(['http://hunter2.example.com/', 'http://127.0.0.1.example.com/', 'http://localhost.example.com/', 'http://10.0.0.1/'])(
    'refuses to send the key of GraphOS to %s without TLS',
    async (endpoint) => {
      const faults = await faultsOf(`usage: { graphos: { endpoint: "${endpoint}" } }\n`);
      expect(faults).toContain('usage.graphos.endpoint: must be an https URL');
      expect(faults).not.toContain('hunter2');
    },
  );

  it('refuses a key of GraphOS that no header can have', async () => {
    expect(await faultsOf('supergraph: { uplink: { key: "hunter2\\n" } }\n')).toContain(
      'supergraph.uplink.key: must have 1 to 8192 visible ASCII characters',
    );
  });

  it('reports to GraphOS about a supergraph from elsewhere, also without TLS to a loopback address', async () => {
    const text =
      'supergraph: { source: file, file: a.graphql, uplink: { graphRef: g@v, key: k } }\nusage: { graphos: { reports: true, endpoint: "http://[::1]:1/a" } }\n';
    const { config } = (await read(text)).graphs[0] ?? {};
    expect(config).toMatchObject({ supergraph: { kind: 'file' }, APOLLO_USAGE_REPORTS: true, APOLLO_KEY: 'k', APOLLO_GRAPH_REF: 'g@v' });
  });

  it('finds the graph and the key of GraphOS in the file of each of several graphs', async () => {
    const text =
      'usage: { graphos: { reports: true } }\ngraphs: { shop: { path: /shop, config: shop.yaml }, bank: { path: /bank, config: bank.yaml } }\n';
    const uplink = (name: string) => `supergraph: { uplink: { graphRef: ${name}@v, key: k } }`;
    const { graphs } = await read(text, { 'shop.yaml': uplink('shop'), 'bank.yaml': uplink('bank') });
    expect(graphs.map(({ config }) => [config.APOLLO_USAGE_REPORTS, config.APOLLO_GRAPH_REF])).toEqual([
      [true, 'shop@v'],
      [true, 'bank@v'],
    ]);
    const faults = await faultsOf(text, { 'shop.yaml': uplink('shop'), 'bank.yaml': 'supergraph: { file: bank.graphql }' });
    expect(faults).toContain('needs supergraph.uplink.graphRef (APOLLO_GRAPH_REF)');
  });
});

describe('readConfig with documents of Hive', () => {
  it.each([
    ['endpoints without a key', 'endpoints: ["https://h/t"]', 'documents.hive.endpoints: needs documents.hive.key (HIVE_DOCUMENTS_KEY)'],
    ['a key without an endpoint', 'key: hunter2', 'documents.hive.key: needs documents.hive.endpoints (HIVE_DOCUMENTS_ENDPOINT)'],
    ['an endpoint that is no URL', 'key: hunter2, endpoints: [ftp://h]', 'documents.hive.endpoints: must be URLs'],
  ])('reports %s', async (_, hive, fault) => {
    const faults = await faultsOf(`documents: { hive: { ${hive} } }\n`);
    expect(faults).toContain(fault);
    expect(faults).not.toContain('hunter2');
  });
});
