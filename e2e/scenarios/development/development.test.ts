/** `npm run dev` on a copy of the repository: what is edited there runs, and nothing else is restarted. */
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import {
  type Ports,
  type SupervisorProcess,
  areFree,
  chooseFreePorts,
  findChildren,
  startSupervisor,
} from '../../stack/processes/supervisor-process.ts';
import { copyRepository } from './copied-repository.ts';

let home: string;
let root: string;
let ports: Ports;
let trestle: SupervisorProcess;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-dev-'));
  // PostgreSQL runs as `nobody` when the tests run as root.
  await chmod(home, 0o755);
  root = join(home, 'repository');
  await copyRepository(root);
  ports = await chooseFreePorts();
  trestle = startSupervisor({
    ports,
    dataDirectory: join(home, 'data'),
    root,
    args: ['--watch'],
    env: { DEMO_DATA: 'off', SUPERGRAPH_FILE: join(root, 'schema/supergraph.graphql') },
  });
  await trestle.says('Watching the sources');
});
afterAll(async () => {
  trestle.child.kill('SIGTERM');
  await trestle.ended;
  await rm(home, { recursive: true, force: true });
});

const childOf = (name: string): number => {
  const [pid, ...others] = findChildren(trestle.child.pid ?? -1, `${name}/dist/main.js`);
  if (pid === undefined || others.length > 0) throw new Error(`expected one process for ${name}`);
  return pid;
};
const PROCESSES = ['subgraphs/users', 'subgraphs/orders', 'subgraphs/content', 'gateway', 'rest-bridge'];
const listPids = () => new Map(PROCESSES.map((name) => [name, childOf(name)]));

describe('npm run dev', () => {
  it('restarts the process whose source has changed, and no other', async () => {
    const before = listPids();
    await appendFile(join(root, 'rest-bridge/src/main.ts'), '\nexport const edited = true;\n');
    await trestle.says('rest-bridge restarted in');
    const after = listPids();
    expect(PROCESSES.filter((name) => before.get(name) !== after.get(name))).toEqual(['rest-bridge']);
    expect(await readFile(join(root, 'rest-bridge/dist/main.js'), 'utf8')).toContain('edited = true');
    expect((await request(`http://localhost:${String(ports.REST_PORT)}/readyz`, { method: 'GET' })).status).toBe(200);
  });

  it('names the place of a syntax error, and leaves the process running', async () => {
    const file = join(root, 'rest-bridge/src/main.ts');
    const source = await readFile(file, 'utf8');
    const before = listPids();
    await writeFile(file, `const = 1;\n${source}`);
    await trestle.says('rest-bridge/src/main.ts:1:7 ');
    expect(listPids()).toEqual(before);
    await writeFile(file, source);
  });

  it('prints type errors, also after the process runs the new code, and says when they are gone', async () => {
    const file = join(root, 'rest-bridge/src/main.ts');
    const source = await readFile(file, 'utf8');
    await writeFile(file, `${source}\nexport const wrong: number = 'one';\n`);
    await trestle.says('The types are wrong:\nrest-bridge/src/main.ts');
    await trestle.says("error TS2322: Type 'string' is not assignable to type 'number'");
    expect(await readFile(join(root, 'rest-bridge/dist/main.js'), 'utf8')).toContain('wrong =');
    await writeFile(file, source);
    await trestle.says('The types are right again');
  });

  it('composes a changed schema, and the gateway serves it without a restart', async () => {
    const gateway = childOf('gateway');
    await appendFile(join(root, 'schema/users.graphql'), '\nextend type User {\n  shoeSize: Int\n}\n');
    // The file that the test before has written back may be noticed together with this one.
    await until(() => Promise.resolve(/\busers(?:, rest-bridge)? restarted in/.test(trestle.output())));
    const query = '{ __type(name: "User") { fields { name } } }';
    await until(async () => {
      const { text } = await request(`http://localhost:${String(ports.GATEWAY_PORT)}/graphql`, { method: 'POST', body: { query } });
      return text.includes('shoeSize');
    });
    expect(childOf('gateway')).toBe(gateway);
  });

  it('prints why a schema does not compose, and restarts nothing', async () => {
    const before = listPids();
    await appendFile(join(root, 'schema/orders.graphql'), '\nextend type Order {\n  nothing: Nothing\n}\n');
    await trestle.says('schema/orders.graphql:');
    expect(listPids()).toEqual(before);
  });

  it('leaves no process behind when it gets SIGTERM', async () => {
    const children = findChildren(trestle.child.pid ?? -1, '');
    expect(children.length).toBeGreaterThanOrEqual(PROCESSES.length);
    trestle.child.kill('SIGTERM');
    expect(await trestle.ended).toBe(0);
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await areFree(ports)).toBe(true);
  });
});
