/** The tour of docs/teams.md, pasted block by block: `npm start`, the registry, a gateway, and both examples outside the checkout. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES, portSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import pg from 'pg';
import { request, until } from '../../stack/clients/client.ts';
import { type Ports, type SupervisorProcess, chooseFreePorts, startSupervisor } from '../../stack/processes/supervisor-process.ts';
import { parsePage } from '../documents/markdown.ts';
import { read } from '../documents/repository.ts';
import { type Shell, openShell } from '../documents/shell.ts';
import { type CopiedExample, copyExample } from './copied-example.ts';
import { type InstalledCommands, installCommands } from './installed-commands.ts';
import { PYTHON, describeWithPython } from './python.ts';

/** Where the page has these ports, the test has free ones. */
const EXAMPLE_PORTS = [4011, 4012, 4100, 4200] as const;
const BLOCKS = parsePage(read('docs/teams.md')).blocks.filter(({ language }) => language === 'sh');
const PYTHON_HEADING = '8. In another language';

let home: string;
let ports: Ports;
let own: Readonly<Record<(typeof EXAMPLE_PORTS)[number], number>>;
let trestle: SupervisorProcess;
let commands: InstalledCommands;
let examples: Readonly<Record<string, CopiedExample>>;
let admin: pg.Client;
let shell: Shell;
const database = `reviews_${randomUUID().replaceAll('-', '')}`;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-tour-'));
  // mkdtemp creates a folder that others cannot read, but PostgreSQL runs as `nobody` when it is started by root.
  await chmod(home, 0o755);
  ports = await chooseFreePorts();
  own = Object.fromEntries(await Promise.all(EXAMPLE_PORTS.map(async (port) => [port, await reserveTestPort()]))) as typeof own;
  trestle = startSupervisor({ ports, dataDirectory: join(home, 'data') });
  commands = await installCommands();
  examples = { reviews: await copyExample('reviews'), 'warehouses-python': await copyExample('warehouses-python') };
  admin = new pg.Client({ connectionString: process.env['TEST_PG_URL'] });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database}`);
  await trestle.says('Trestle is ready');
  shell = openShell();
  const addresses = SUBGRAPH_NAMES.map((name) => `${urlSettingOf(name)}=http://localhost:${String(ports[portSettingOf(name)])}/graphql`);
  const jwks = `JWKS_URL=http://localhost:${String(ports.REST_PORT)}/.well-known/jwks.json`;
  await shell.run(`export PATH=${commands.path}:$PATH DATA_DIR=${join(home, 'data')} ${jwks} ${addresses.join(' ')}`);
  await until(async () => (await readRelease()) !== undefined);
});
afterAll(async () => {
  await shell.stop();
  trestle.child.kill('SIGTERM');
  await trestle.ended;
  await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await admin.end();
  await commands.remove();
  for (const { remove } of Object.values(examples)) await remove();
  await rm(home, { recursive: true, force: true });
});

/** Returns the number of the current release, by the protocol of gateways; undefined before the first one. */
let token: string | undefined;
async function readRelease(): Promise<number | undefined> {
  if (token === undefined) {
    const before = shell.output().length;
    await shell.run('npm run --silent registry:token -- --name test --scope read');
    token = /trestle_reg_\w+/u.exec(shell.output().slice(before))?.[0];
  }
  const url = `http://localhost:${String(ports.REGISTRY_PORT)}/graphql`;
  const body = { query: '{ environment(name: "prod") { release { number } } }' };
  const reply = await request(url, { method: 'POST', token, body });
  return (reply.body as { data?: { environment?: { release: { number: number } } | null } }).data?.environment?.release.number;
}

/** The block with the ports and folders of the test; what installs and copies is done already. */
function toCommand(code: string): string {
  const url = Object.assign(new URL(process.env['TEST_PG_URL'] ?? ''), { pathname: `/${database}` }).href;
  const standard = { 3000: ports.REST_PORT, 4005: ports.REGISTRY_PORT, ...own };
  return Object.entries(standard)
    .reduce((text, [page, port]) => text.replaceAll(new RegExp(`(localhost:|--port )${page}\\b`, 'gu'), `$1${String(port)}`), code)
    .replace(/cp -r examples\/(\S+) \S+ && cd \S+(?: && npm ci)?/u, (_, name: string) => `cd ${examples[name]?.folder ?? ''}`)
    .replace('.trestle/keys', join(home, 'data/keys'))
    .replace('DATABASE_URL=postgresql://localhost/reviews', `PORT=${String(own[4011])} DATABASE_URL='${url}'`)
    .replace('python3 server.py', `PORT=${String(own[4012])} ${PYTHON} -B server.py`);
}

/** Waits until what a block has started or published is there, as a reader does. */
async function settle(code: string): Promise<void> {
  const isUp = (port: number, path: string) =>
    until(async () => (await request(`http://localhost:${String(port)}${path}`, { method: 'GET' })).status === 200);
  if (code.includes('trestle-gateway --port')) await isUp(own[4100], '/readyz');
  if (code.includes('npm start')) await isUp(own[4011], '/livez');
  if (code.includes('server.py')) await isUp(own[4012], '/livez');
  if (code.includes('trestle dev')) await until(() => Promise.resolve(shell.output().includes('serves the graph of prod')));
  if (!/subgraph publish|launch rollback/u.test(code)) return;
  const release = await readRelease();
  await until(async () => {
    const { body } = await request(`http://localhost:${String(own[4100])}/readyz`, { method: 'GET' });
    return (body as { release?: number }).release === release;
  });
}

/** Pastes the blocks below a heading. Returns what they printed. */
async function paste(heading: string): Promise<string> {
  const start = shell.output().length;
  for (const { code } of BLOCKS.filter((block) => block.heading === heading)) {
    if (code.includes('npm install --global')) continue;
    await shell.run(toCommand(code));
    await settle(code);
  }
  return shell.output().slice(start);
}
const codesOf = (output: string) =>
  Array.from(output.matchAll(/\[(\w+ \w+) ended with (\d+)\]/gu), ([, words, code]) => `${words} ${code}`);

describe('the tour for teams', () => {
  it('has no other headings with commands than those of these tests', () => {
    expect([...new Set(BLOCKS.map(({ heading }) => heading))]).toEqual([
      ...['1. The graph and the commands', '2. The subgraph', '3. Check and publish', '4. A refused breaking change'],
      ...['5. An approval', '6. A rollback', '7. While you develop', PYTHON_HEADING],
    ]);
  });

  it('publishes a subgraph of another repository, and joins its data to that of others', async () => {
    await paste('1. The graph and the commands');
    expect(await paste('2. The subgraph')).toContain('reviews listens on');
    const output = await paste('3. Check and publish');
    expect(codesOf(output)).toEqual(['subgraph lint 0', 'subgraph check 0', 'subgraph publish 0', 'operations push 0']);
    expect(output).toMatch(/\{"data":\{"addReview":\{"product":\{"name":"[^"]+"\},"author":\{"name":"[^"]+"\}\}\}\}/u);
    expect(output).toMatch(
      /\{"data":\{"product":\{"name":"[^"]+","averageRating":5,"reviews":\[\{"rating":5,"text":"It holds\.","author":\{"name":"[^"]+"\}\}\]\}\}\}/u,
    );
  });

  it('is refused a change that breaks a client, by name', async () => {
    const output = await paste('4. A refused breaking change');
    expect(codesOf(output)).toEqual(['subgraph check 1']);
    expect(output).toMatch(/Operation "ReviewsPage" of client "web"[\s\S]*breaking FIELD_REMOVED/u);
  });

  it('publishes a breaking change that was approved by name and reason', async () => {
    const output = await paste('5. An approval');
    expect(codesOf(output)).toEqual(['subgraph check 1', 'check approve 0', 'subgraph check 0', 'subgraph publish 0']);
    const { body } = await request(`http://localhost:${String(own[4100])}/graphql`, {
      method: 'POST',
      body: { query: '{ product(id: 1) { averageRating } }' },
    });
    expect(JSON.stringify(body)).toContain('Cannot query field');
  });

  it('serves the launch before after a rollback, and in another environment after a promotion', async () => {
    const output = await paste('6. A rollback');
    expect(codesOf(output)).toEqual(['launch list 0', 'launch rollback 0', 'launch promote 0']);
    expect(output).toContain('{"data":{"product":{"averageRating":5}}}');
  });

  it('serves the deployed graph with the local subgraph', async () => {
    expect(await paste('7. While you develop')).toMatch(
      /\{"data":\{"product":\{"name":"[^"]+","reviews":\[\{"text":"It holds\."\}\]\}\}\}/u,
    );
  });
});

describeWithPython('the tour for teams, in Python', () => {
  it('joins the data of a subgraph in Python to that of others', async () => {
    const output = await paste(PYTHON_HEADING);
    expect(codesOf(output)).toEqual(['subgraph publish 0']);
    expect(output).toMatch(
      /"warehouses":\[\{"name":"North","city":"Hamburg"\},\{"name":"South","city":"Verona"\}\],"reviews":\[\{"text":"It holds\."\}\]/u,
    );
  });
});
