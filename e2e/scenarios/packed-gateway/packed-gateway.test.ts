/** The package @trestle/gateway, packed and installed in an empty folder: nothing of this repository is beside it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, type SubgraphSource, compose, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { request } from '../../stack/clients/client.ts';
import { readRequests } from '../../stack/collectors/graphos-report.ts';
import { startReportReceiver } from '../../stack/collectors/report-receiver.ts';
import { call, withAgent } from '../mcp/agent.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

const SOURCES: Readonly<Record<string, SubgraphSource>> = {
  catalogue: {
    sdl: 'type Query { book(id: ID!): Book } type Book @key(fields: "id") { id: ID! title: String! }',
    resolvers: { Query: { book: (_: unknown, { id }: { id: string }) => ({ id, title: `Title ${id}` }) } },
  },
  reviews: {
    sdl: 'type Book @key(fields: "id") { id: ID! stars: [Int!]! }',
    resolvers: { Book: { __resolveReference: ({ id }: { id: string }) => ({ id, stars: [id.length, 5] }) } },
  },
};

let folder: string;
let command: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-packed-gateway-'));
  await install();
  command = join(folder, 'node_modules/.bin/trestle-gateway');
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Packs the gateway and unpacks the tarball as npm does. Third-party packages are links to those of the checkout: the test needs no registry. */
async function install(): Promise<void> {
  await run(process.execPath, [join(root, 'gateway/pack.mjs')]);
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: join(root, 'gateway/dist/package') });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const target = join(folder, 'node_modules/@trestle/gateway');
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1']);
  const { bin, dependencies } = await readManifest(target);
  for (const name of Object.keys(dependencies)) await link(findPackage(name), join(folder, 'node_modules', name));
  await link(join(target, bin['trestle-gateway'] ?? ''), join(folder, 'node_modules/.bin/trestle-gateway'));
}

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as Manifest;
}

/** npm puts a package that workspaces use in other versions below the workspace. */
const WORKSPACES = ['gateway', ...['env', 'identity', 'log', 'service', 'telemetry'].map((name) => `packages/${name}`), 'schema', '.'];

function findPackage(name: string): string {
  const places = WORKSPACES.map((workspace) => join(root, workspace, 'node_modules', name));
  return places.find((place) => existsSync(place)) ?? name;
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await symlink(from, to);
}

it('has the interface of extensions, with its types', async () => {
  const script =
    "const { defineExtension } = await import('@trestle/gateway/extension'); console.log(defineExtension({ name: 'own' }).name);";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  expect(stdout).toBe('own\n');
  expect(existsSync(join(folder, 'node_modules/@trestle/gateway/dist/extensions/extension.d.ts'))).toBe(true);
});

describe('the package @trestle/gateway, installed from its tarball', () => {
  it('depends on the versions that the repository uses, and on none of its packages', async () => {
    const { dependencies } = await readManifest(join(folder, 'node_modules/@trestle/gateway'));
    const installed = await Promise.all(
      Object.keys(dependencies).map(async (name) => [name, (await readManifest(findPackage(name))).version] as const),
    );
    expect(dependencies).toEqual(Object.fromEntries(installed));
    expect(Object.keys(dependencies).filter((name) => name.startsWith('@trestle/'))).toEqual([]);
  });

  it('prints its version, and names the missing flag when no supergraph is given', async () => {
    const { version } = await readManifest(join(root, 'gateway'));
    expect((await run(command, ['--version'], { cwd: folder })).stdout).toBe(`${version}\n`);
    const failed = run(command, ['--auth', 'off'], { cwd: folder, env: { PATH: process.env['PATH'] } });
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('--supergraph') });
  });

  it('serves a supergraph with its file as the only setting, and says that it checks no credentials', async () => {
    const file = join(folder, 'only.graphql');
    await writeFile(file, await compose(SOURCES, {}));
    const gateway = await startGateway(['--supergraph', file, '--port', '0'], {}, command);
    try {
      const body = { query: '{ __typename }' };
      const headers = { authorization: 'Bearer of-a-subgraph' };
      const reply = await request(`${gateway.url}/graphql`, { method: 'POST', body, headers });
      expect([reply.status, reply.body]).toEqual([200, { data: { __typename: 'Query' } }]);
      expect(gateway.lines.join('\n')).toContain('authentication is off');
    } finally {
      await gateway.end('SIGTERM');
    }
  });

  it('writes a configuration file with its schema, checks it, and starts with it', async () => {
    const env = { PATH: process.env['PATH'] };
    await run(command, ['init'], { cwd: folder, env });
    const file = join(folder, 'trestle.yaml');
    const written = await readFile(file, 'utf8');
    const schema = /\$schema=(\S+)/.exec(written)?.[1] ?? '';
    expect(JSON.parse(await readFile(join(folder, schema), 'utf8'))).toHaveProperty('properties.supergraph');
    await expect(run(command, ['check'], { cwd: folder, env })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    await writeFile(file, `${written}\nlimits: { maxRootFields: 0 }\n`);
    await expect(run(command, ['check'], { cwd: folder, env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('limits'),
    });
    await writeFile(file, 'limits: { maxRootFields: 1 }\n');
    const federation = await startFederation(SOURCES, { command, args: ['--config', file] });
    try {
      expect((await federation.ask('{ a: book(id: "1") { id } b: book(id: "2") { id } }')).status).toBe(400);
      expect((await federation.ask('{ book(id: "1") { id } }')).status).toBe(200);
    } finally {
      await federation.stop();
      await rm(file);
    }
  });

  it('reads a configuration and extensions in TypeScript, whatever the version of Node.js', async () => {
    const extension = `import { defineExtension } from '@trestle/gateway/extension';
      enum Header { seen = 'x-seen' }
      export default defineExtension({ name: 'seen', onResponse: (event) => event.setResponseHeader(Header.seen as string, 'yes') });`;
    await writeFile(join(folder, 'extensions.ts'), extension);
    await writeFile(join(folder, 'limits.ts'), 'export const limits: { maxRootFields: number } = { maxRootFields: 1 };');
    const file = join(folder, 'settings.ts');
    await writeFile(
      file,
      "import { limits } from './limits.ts';\nexport default { limits, extensions: { file: 'extensions.ts' } } as const;",
    );
    const federation = await startFederation(SOURCES, { command, args: ['--config', file] });
    try {
      expect((await federation.ask('{ a: book(id: "1") { id } b: book(id: "2") { id } }')).status).toBe(400);
      const reply = await federation.ask('{ book(id: "1") { id } }');
      expect([reply.status, reply.headers.get('x-seen')]).toEqual([200, 'yes']);
    } finally {
      await federation.stop();
    }
  });

  it.each(['trestle', 'apollo'])('serves a supergraph with the engine %s', async (engine) => {
    const federation: Federation = await startFederation(SOURCES, { command, args: ['--engine', engine] });
    try {
      const { body } = await federation.ask('query ($id: ID!) { book(id: $id) { title stars } }', { id: 'b1' });
      expect(body).toEqual({ data: { book: { title: 'Title b1', stars: [2, 5] } } });
    } finally {
      await federation.stop();
    }
  });

  it('speaks MCP without a dependency more, and has the licences of what it contains', async () => {
    const file = join(folder, 'documents.json');
    await writeFile(file, JSON.stringify({ book: 'query Book($id: ID!) { book(id: $id) { title } }' }));
    const federation = await startFederation(SOURCES, { command, env: { MCP: 'on', TRUSTED_DOCUMENTS_FILE: file } });
    try {
      const result = await withAgent(federation.gateway.url, (agent) => call(agent, 'Book', { id: '1' }));
      expect(result.structuredContent).toEqual({ data: { book: { title: 'Title 1' } } });
    } finally {
      await federation.stop();
    }
    const target = join(folder, 'node_modules/@trestle/gateway');
    expect(Object.keys((await readManifest(target)).dependencies)).not.toContain('@modelcontextprotocol/sdk');
    expect(await readFile(join(target, 'THIRD-PARTY-LICENSES'), 'utf8')).toContain('@modelcontextprotocol/sdk');
  });

  it('reports usage to GraphOS by packages that it depends on', async () => {
    const receiver = await startReportReceiver();
    const env = { APOLLO_KEY: 'k', APOLLO_GRAPH_REF: 'g@v', APOLLO_USAGE_REPORTS: 'on', APOLLO_USAGE_REPORTING_INGRESS_URL: receiver.url };
    const federation = await startFederation(SOURCES, { command, env });
    await federation.ask('query Book { book(id: "b1") { stars } }').finally(() => federation.stop());
    expect(readRequests(receiver.received)).toMatchObject([{ key: '# Book\nquery Book{book(id:""){stars}}', requests: 1 }]);
    await receiver.stop();
  });

  it('serves GraphiQL with its files', async () => {
    const federation = await startFederation(SOURCES, { command });
    try {
      const page = await (await fetch(federation.url, { headers: { accept: 'text/html' } })).text();
      const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
      const response = await fetch(new URL(script, federation.url));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')]);
      await response.body?.cancel();
    } finally {
      await federation.stop();
    }
  });
});
